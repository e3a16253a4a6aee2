import Dispatch
import LoaderChain

extension ContractCheck {
    /// What a reset does, with nothing and with much in flight.
    static let resetParts = [
        Part(name: "A reset of an idle chain") { stage, _ in
            let chain = stage.chain(to: ScriptedTerminal { _ in .success() })
            await stage.reset(chain)
            await stage.result(of: stage.load(with: chain), "a task after the reset")
        },
        Part(name: "A reset with tasks in flight") { stage, _ in
            let terminal = ScriptedTerminal()
            let chain = stage.chain(to: terminal)
            let probes = [stage.load("/1", with: chain), stage.load("/2", with: chain)]
            await stage.reset(chain)
            for probe in probes { await Self.answerAll(at: terminal, until: probe) }
            for probe in probes { await stage.result(of: probe) }
        },
        Part(name: "Two resets at once") { stage, _ in
            let terminal = ScriptedTerminal()
            let chain = stage.chain(to: terminal)
            let probe = stage.load(with: chain)
            async let first: Void = stage.reset(chain, "the first reset")
            async let second: Void = stage.reset(chain, "the second reset")
            _ = await (first, second)
            await Self.answerAll(at: terminal, until: probe)
            await stage.result(of: probe)
        },
        Part(name: "A reset from inside a completion handler") { stage, _ in
            let chain = stage.chain(to: ScriptedTerminal { _ in .success() })
            let reset = stage.probe()
            chain.load(request: stage.request()) { [weak chain] _ in chain?.reset { reset.complete(nil) } }
            stage.expect(await reset.isOver(), "the reset never finished")
        },
        Part(name: "A reset reaches the loader after, once") { stage, _ in
            let counter = ResetCounter()
            let chain = stage.chain(to: counter)
            await stage.reset(chain)
            stage.expect(counter.count == 1, "it was reset \(counter.count) times")
        },
    ]

    /// Answers what arrives until a task is over: one that the loader kept for a while arrives after the reset.
    static func answerAll(at terminal: ScriptedTerminal, until probe: TaskProbe) async {
        while let task = await Self.arrival(at: terminal, or: probe) { terminal.answer(task) }
    }
}

/// A terminal that counts its resets.
private final class ResetCounter: HTTPLoader, @unchecked Sendable {
    private let counted = Guarded(0)
    var count: Int { counted.withLock { $0 } }

    override func reset(with group: DispatchGroup) {
        counted.withLock { $0 += 1 }
        super.reset(with: group)
    }
}
