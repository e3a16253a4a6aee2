import LoaderChain

extension ContractCheck {
    /// The simplest tasks: a loader that fails here needs no harder ones.
    static let firstParts = [
        Part(name: "A terminal that answers at once") { stage in
            let (chain, terminal) = stage.chain(to: .answers { _ in .success() })
            let probe = stage.load(with: chain)
            let result = stage.result(of: probe)
            let arrivals = terminal.arrivals
            let isKnown = { (arrival: ContractTerminal.Arrival) in arrival.canary == probe.path }
            stage.expect(
                arrivals.allSatisfy { isKnown($0) || $0.path != probe.path }
                    && (arrivals.contains(where: isKnown) || arrivals.isEmpty || result?.response == nil),
                "an option of the request did not reach the loader after it: change the task's request, or a copy "
                    + "of it, instead of making a new one")
        },
        Part(name: "A terminal that fails at once, eight times, and then recovers") { stage in
            let (chain, _) = stage.chain(to: .answers { $0 < 8 ? .failure(.cannotConnect) : .success() })
            for number in 0..<9 {
                let task = number == 0 ? "a task" : "a task after \(number) that had failed"
                guard stage.result(of: stage.load(with: chain), task) != nil else { return }
            }
        },
    ]

    // MARK: Holding

    /// The parts about tasks that the loader after it holds.
    static let passingParts = [
        Part(name: "A task that the loader after it holds for a while") { stage in
            let (chain, terminal) = stage.chain(to: .holds)
            stage.stopClock()
            let probe = stage.load(with: chain)
            _ = stage.wait(until: { probe.hasEnded || !terminal.held.isEmpty || stage.timers.pendingCount > 0 })
            stage.startClock()
            _ = stage.wait(until: { probe.hasEnded || !terminal.arrivals.isEmpty })
            // What the loader does after it has passed the task on, on a thread of its own, gets a chance to be seen.
            ContractPatience.takeTurns(2)
            stage.expect(
                terminal.repeatedPaths.isEmpty,
                "it passed the same task on twice, which sends two requests: call `super.load(task:)` once for each "
                    + "task, and make an attempt to send a request again")
            stage.expect(
                terminal.takenPaths.isEmpty || stage.timeHasPassed,
                "it completed a task that it had passed on: complete a task or pass it on, and use a completion "
                    + "handler or a result filter to act on its result")
            stage.expect(
                terminal.changedPath == nil,
                "it changed the request of a task that it had passed on, which the loaders after it may not see: "
                    + "change it before `super.load(task:)`")
            stage.answerAll(at: terminal, until: probe)
            stage.result(of: probe)
            expectRelease(of: terminal.arrivals, on: stage)
        },
        Part(name: "Two tasks that are answered in the other order") { stage in
            let (chain, terminal) = stage.chain(to: .holds)
            let probes = [stage.load(with: chain), stage.load(with: chain)]
            for (probe, other) in zip(probes, probes.reversed()) {
                stage.answerAll(at: terminal, until: probe)
                let body = stage.result(of: probe)?.response.map { String(decoding: $0.body, as: UTF8.self) }
                stage.expect(
                    body != ContractTerminal.body(for: other.path),
                    "a task completed with the response of another one: keep what belongs to a task in its own handlers"
                )
            }
        },
    ]

    /// Notes a violation if the loader still holds a task that has ended.
    private static func expectRelease(of arrivals: [ContractTerminal.Arrival], on stage: ContractStage) {
        guard !stage.isOver, !arrivals.allSatisfy({ stage.waitUntilGone($0.task) }) else { return }
        stage.noteVainWait(
            "the loader did not release a task that had ended",
            "keep no reference to a task that you have passed on; count such tasks, or refer to them weakly")
    }

    // MARK: Completing

    /// The parts about results on their way up.
    static let completionParts = [
        Part(name: "A terminal that answers on another thread") { stage in
            let (chain, _) = stage.chain(to: .answersLater)
            stage.result(of: stage.load(with: chain))
        },
        Part(name: "A terminal that completes twice") { stage in
            let (chain, _) = stage.chain(to: .repeats)
            stage.result(of: stage.load(with: chain))
        },
        Part(name: "A terminal that drops the task") { stage in
            let (chain, terminal) = stage.chain(to: .drops)
            let result = stage.result(
                of: stage.load(with: chain), mayBeAbandoned: true,
                orSay:
                    "the loader still holds a task that it has passed on, so that its loss is not seen. Refer to it "
                    + "weakly, and use the task that a cancel handler is given instead of capturing it")
            stage.expect(
                result?.error != nil || result == nil || terminal.arrivals.isEmpty,
                "a task that the terminal had lost succeeded: pass errors on, or answer them with something that "
                    + "says so"
            )
        },
        Part(name: "The same request, twice at once") { stage in
            let (chain, _) = stage.chain(to: .answersLater)
            let path = stage.newPath()
            let probes = [stage.load(path, with: chain), stage.load(path, with: chain)]
            for probe in probes { stage.result(of: probe) }
        },
        Part(name: "A handler that loads again") { stage in
            let (chain, _) = stage.chain(to: .answers { _ in .success() })
            let second = stage.probe()
            let first = stage.load(with: chain) { [weak chain, request = stage.request(second.path)] in
                chain?.load(request: request) { second.complete($0) }
            }
            stage.result(of: first)
            stage.result(of: second, "the task that a handler loaded")
        },
        Part(name: "A request that cannot be sent") { stage in
            let (chain, _) = stage.chain(to: .answers { _ in .success() })
            let probe = stage.probe()
            var request = stage.request(probe.path)
            request.headers = ["Bad": "a\r\nb: c"]
            stage.call("`load(task:)`") { [request] in
                _ = chain.load(request: request) { probe.complete($0) }
            }
            if let result = stage.result(of: probe) {
                stage.expect(result.error != nil, "a request with a line break in a header was sent")
            }
        },
    ]
}
