import LoaderChain

extension ContractCheck {
    /// The simplest tasks: a loader that fails here needs no harder ones.
    static let firstParts = [
        Part(name: "A terminal that answers at once") { stage in
            let (chain, terminal) = stage.chain(to: .answers { _ in .status(.ok) })
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
            let (chain, _) = stage.chain(to: .answers { $0 < 8 ? .failure(.cannotConnect) : .status(.ok) })
            for number in 0..<9 {
                let task = number == 0 ? "a task" : "a task after \(number) that had failed"
                guard stage.result(of: stage.load(with: chain), task) != nil else { return }
            }
        },
    ]
}
