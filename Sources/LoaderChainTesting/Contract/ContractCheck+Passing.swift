import LoaderChain

extension ContractCheck {
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
}
