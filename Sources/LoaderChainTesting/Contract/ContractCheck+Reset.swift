import LoaderChain

extension ContractCheck {
    /// The parts about resets, with and without tasks in flight.
    static let resetParts = [
        Part(name: "A reset of an idle chain") { stage in
            let (chain, terminal) = stage.chain(to: .answers { _ in .status(.ok) })
            stage.reset(chain)
            stage.expect(
                terminal.resets == 1 || chain.tail !== terminal || stage.isOver,
                "the loader after it was reset \(terminal.resets) times by one reset: call `super.reset(with:)` once in "
                    + "every override, with the same group")
            stage.result(of: stage.load(with: chain), "a task after the reset")
        },
        resetLockPart,
        Part(name: "A reset with tasks in flight") { stage in
            resetInFlight(stage, resets: 1)
        },
        Part(name: "Two resets at once") { stage in
            resetInFlight(stage, resets: 2)
        },
        Part(name: "A reset while a task waits for time") { stage in
            let (chain, _) = stage.chain(to: .answers(failingAnswer))
            guard let probe = waitingForTime(with: chain, on: stage) else { return }
            let reset = stage.beginReset(chain)
            stage.end(of: reset)
            stage.result(
                of: probe, "a task from before the reset",
                orSay:
                    "the loader left it waiting for a time. End the tasks that you hold in `reset(with:)`, or put "
                    + "an `Autocancel` before the loader")
        },
        Part(name: "A reset from inside a completion handler") { stage in
            let (chain, _) = stage.chain(to: .answers { _ in .status(.ok) })
            let reset = stage.probe()
            let probe = stage.load(with: chain) { [weak chain] in chain?.reset { reset.complete() } }
            stage.result(of: probe)
            stage.end(of: reset)
        },
    ]

    private static func resetInFlight(_ stage: ContractStage, resets: Int) {
        let (chain, terminal) = stage.chain(to: .holds)
        let probes = [stage.load(with: chain), stage.load(with: chain)]
        let ends = (0..<resets).map { _ in stage.beginReset(chain) }
        // A loader that held a task may pass it on now, and a loader before it may wait for its end.
        for probe in probes { stage.answerAll(at: terminal, until: probe) }
        for probe in probes { stage.result(of: probe) }
        for end in ends { stage.end(of: end) }
    }
}
