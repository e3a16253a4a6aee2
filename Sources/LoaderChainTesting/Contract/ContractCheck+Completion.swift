import LoaderChain

extension ContractCheck {
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
            let (chain, _) = stage.chain(to: .answers { _ in .status(.ok) })
            let second = stage.probe()
            let first = stage.load(with: chain) { [weak chain, request = stage.request(second.path)] in
                chain?.load(request: request) { second.complete($0) }
            }
            stage.result(of: first)
            stage.result(of: second, "the task that a handler loaded")
        },
        Part(name: "A request that cannot be sent") { stage in
            let (chain, _) = stage.chain(to: .answers { _ in .status(.ok) })
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
