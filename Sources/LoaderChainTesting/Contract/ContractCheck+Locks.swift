import LoaderChain

extension ContractCheck {
    /// The parts in which a second thread loads a task while the loader is busy with the first.
    ///
    /// A lock that the loader holds meanwhile, even a recursive one, keeps that thread waiting.
    static let lockParts = [
        Part(name: "A second thread loads a task while the first is passed on") { stage in
            lockPart(
                stage, .answers { _ in .success() }, at: .load, "passes a task on", across: "`super.load(task:)`"
            ) {
                chain, _, _ in stage.result(of: stage.load(with: chain))
            }
        },
        Part(name: "A second thread loads a task while the first completes") { stage in
            let (chain, _) = stage.chain(to: .answersLater)
            let second = SecondLoad(stage, chain)
            let probe = stage.load(with: chain) {
                second.run("completes a task", across: "the completion of a task")
            }
            stage.result(of: probe)
            second.end()
        },
    ]

    static let cancelLockPart = Part(name: "A second thread loads a task while the first is cancelled") { stage in
        lockPart(stage, .holds, at: .cancel, "handles a cancel", across: "a cancel") { chain, terminal, _ in
            let probe = stage.load(with: chain)
            _ = stage.wait(until: { probe.hasEnded || !terminal.held.isEmpty })
            stage.cancel(probe)
            stage.answerAll(at: terminal, until: probe)
            stage.result(of: probe)
        }
    }

    static let resetLockPart = Part(name: "A second thread loads a task while the loader is reset") { stage in
        lockPart(stage, .holds, at: .reset, "is reset", across: "`super.reset(with:)`") { chain, _, _ in
            stage.resetNested(chain)
        }
    }

    /// How many tasks are loaded, so that a loader with a limit makes the last of them wait.
    private static let manyTasks = 9

    /// The same for a task that the loader has made wait, which it passes on by code of its own.
    static let waitingLockPart = Part(name: "A second thread loads a task while a waiting task is passed on") { stage in
        lockPart(
            stage, .holds, at: .load, "passes a waiting task on", across: "`super.load(task:)`", behind: manyTasks
        ) { _, terminal, probes in
            for probe in probes {
                stage.answerAll(at: terminal, until: probe)
                stage.result(of: probe)
            }
        }
    }

    /// Runs `body` with a second load at the first such moment, and with `others` loaded before, whose moments do not count.
    private static func lockPart(
        _ stage: ContractStage, _ behaviour: ContractTerminal.Behaviour, at moment: ContractTerminal.Moment,
        _ event: String, across call: String, behind others: Int = 0,
        _ body: (HTTPLoader, ContractTerminal, [TaskProbe]) -> Void
    ) {
        let second = Locked<SecondLoad?>(nil)
        let (chain, terminal) = stage.chain(to: behaviour) { present in
            guard present == moment else { return }
            second.withLock { $0 }?.run(event, across: call)
        }
        let load = SecondLoad(stage, chain)
        let probes = (0..<others).map { _ in stage.load(with: chain) }
        second.withLock { $0 = load }
        body(chain, terminal, probes)
        _ = second.withLock { replace(&$0, with: nil) }
        load.end(at: terminal)
    }
}

/// A task that is loaded once by another thread.
private final class SecondLoad: Sendable {
    private let stage: ContractStage
    private let chain: HTTPLoader
    private let probe: TaskProbe
    private let isBegun = Locked(false)

    init(_ stage: ContractStage, _ chain: HTTPLoader) {
        self.stage = stage
        self.chain = chain
        probe = stage.probe()
    }

    /// Loads the task, and notes a violation if the call does not return.
    func run(_ event: String, across call: String) {
        guard !isBegun.withLock({ replace(&$0, with: true) }) else { return }
        let isFree = stage.returnsElsewhere { [chain, probe, request = stage.request(probe.path)] in
            chain.load(request: request) { probe.complete($0) }
        }
        guard !isFree else { return }
        stage.noteVainWait(
            "while the loader \(event), another thread could not load a task",
            "it holds a lock, or makes threads wait, across \(call). Decide under the lock, and act when it is released"
        )
    }

    /// Awaits the end of the task, if it was loaded; it is not loaded later.
    func end(at terminal: ContractTerminal? = nil) {
        guard isBegun.withLock({ replace(&$0, with: true) }) else { return }
        if let terminal { stage.answerAll(at: terminal, until: probe) }
        stage.result(of: probe)
    }
}
