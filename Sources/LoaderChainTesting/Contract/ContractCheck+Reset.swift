import Dispatch
import LoaderChain

extension ContractCheck {
    /// The parts about resets, with and without tasks in flight.
    static let resetParts = [
        Part(name: "A reset of an idle chain") { stage, _ in
            let chain = stage.chain(to: ScriptedTerminal { _ in .success() })
            await stage.reset(chain)
            await stage.result(of: stage.load(with: chain), "a task after the reset")
        },
        Part(name: "A reset with tasks in flight") { stage, _ in
            let terminal = ScriptedTerminal()
            let there = stage.probe()
            let chain = stage.chain(to: ResetCounter { there.complete(nil) } --> terminal)
            let probes = [stage.load("/1", with: chain), stage.load("/2", with: chain)]
            async let reset: Void = Self.reset(chain, on: stage, reaching: there)
            await Self.answerAll(at: terminal, until: probes, after: there)
            await reset
            for probe in probes { await stage.result(of: probe) }
        },
        Part(name: "Two resets at once") { stage, _ in
            let terminal = ScriptedTerminal()
            let there = stage.probe()
            let chain = stage.chain(to: ResetCounter { there.complete(nil) } --> terminal)
            let probe = stage.load(with: chain)
            async let first: Void = Self.reset(chain, on: stage, reaching: there)
            async let second: Void = Self.reset(chain, on: stage, reaching: there)
            await Self.answerAll(at: terminal, until: [probe], after: there)
            _ = await (first, second)
            await stage.result(of: probe)
        },
        Part(name: "A reset from inside a completion handler") { stage, _ in
            let chain = stage.chain(to: ScriptedTerminal { _ in .success() })
            let reset = stage.probe()
            chain.load(request: stage.request()) { [weak chain] _ in chain?.reset { reset.complete(nil) } }
            await stage.end(of: reset, "the reset")
        },
        Part(name: "A reset reaches the loader after, once") { stage, _ in
            let counter = ResetCounter()
            let chain = stage.chain(to: counter)
            await stage.reset(chain)
            stage.expect(counter.count == 1, "it was reset \(counter.count) times")
        },
    ]

    private static func reset(_ chain: HTTPLoader, on stage: ContractStage, reaching there: TaskProbe) async {
        await stage.reset(chain)
        // A task that did not get there has ended nevertheless.
        there.complete(nil)
    }

    /// Responds to tasks that arrive after a reset: a loader that held a task may pass it on now, and a loader above may wait
    /// for its end.
    private static func answerAll(
        at terminal: ScriptedTerminal, until probes: [TaskProbe], after there: TaskProbe
    ) async {
        _ = await there.isOver()
        for probe in probes { await answerAll(at: terminal, until: probe) }
    }

    /// Responds to arriving tasks until one of them is over: a task that the loader held for a while arrives after the reset.
    static func answerAll(at terminal: ScriptedTerminal, until probe: TaskProbe) async {
        while let task = await Self.arrival(at: terminal, or: probe) { terminal.answer(task) }
    }
}

/// Counts its resets, and reports each.
private final class ResetCounter: HTTPLoader, @unchecked Sendable {
    private let counted = Locked(0)
    private let onReset: @Sendable () -> Void
    var count: Int { counted.withLock { $0 } }

    init(onReset: @escaping @Sendable () -> Void = {}) { self.onReset = onReset }

    override func reset(with group: DispatchGroup) {
        counted.withLock { $0 += 1 }
        onReset()
        super.reset(with: group)
    }
}
