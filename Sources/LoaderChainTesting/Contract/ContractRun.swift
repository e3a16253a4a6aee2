import Dispatch
import DurableFiles
import LoaderChain
import LoaderChainPlatformC

/// One run of a check: the parts on a thread of their own, and another thread that watches it.
final class ContractRun: Sendable {
    private let check: ContractCheck
    private let state = Locked(State())
    private let isOver = DispatchSemaphore(value: 0)
    /// How many times the patience a call may take in which nothing happens.
    private static let timesOfPatience = 4

    private struct State {
        var violations: [String] = []
        var present: (name: String, stage: ContractStage)?
    }

    init(_ check: ContractCheck) { self.check = check }

    /// Runs all parts and returns what they found; called on a thread that may wait.
    func violations() -> [String] {
        ContractThreads.run {
            self.runParts()
            self.isOver.signal()
        }
        watch()
        let violations = state.withLock { $0.violations }
        if !violations.isEmpty { printUnlessHeard(violations) }
        return violations
    }

    private func runParts() {
        for part in ContractCheck.parts {
            let stage = ContractStage(check)
            state.withLock { $0.present = (part.name, stage) }
            part.run(stage)
            stage.end()
            guard conclude(part.name, stage) else { return }
        }
    }

    /// Notes what a part has found, and returns whether the next one comes; false also after the watch has noted it.
    private func conclude(_ name: String, _ stage: ContractStage) -> Bool {
        let isOver = stage.isOver
        let found = stage.found.map { "\(name): \($0)" }
        let isNoted = state.withLock { state in
            guard state.present?.stage === stage else { return false }
            state.present = nil
            state.violations += found
            return true
        }
        guard isNoted, isOver else { return isNoted }
        letGo(stage)
        return false
    }

    /// Ends what a part has left behind, on a thread that the loader may block as well.
    private func letGo(_ stage: ContractStage) {
        let isDone = DispatchSemaphore(value: 0)
        ContractThreads.run {
            stage.letGo()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + check.patience / .seconds(1))
    }

    /// Waits for the end of all parts, or for a call of the loader that does not return.
    ///
    /// Every wait of a part ends when the patience is exhausted. A call of the loader has several times as long, since it
    /// may be slow without waiting for anything.
    private func watch() {
        var last = (part: ObjectIdentifier?.none, number: 0, times: 0)
        while isOver.wait(timeout: .now() + check.patience / .seconds(1)) == .timedOut {
            guard let (name, stage) = state.withLock({ $0.present }) else { continue }
            let call = stage.presentCall
            guard let blocked = call.name, (ObjectIdentifier(stage), call.number) == (last.part, last.number) else {
                last = (ObjectIdentifier(stage), call.number, 0)
                continue
            }
            last.times += 1
            guard last.times >= Self.timesOfPatience else { continue }
            ContractPatience(time: check.patience).takeAllTurns()
            guard stage.presentCall.number == call.number else { continue }
            stage.noteBlockedCall(blocked)
            _ = conclude(name, stage)
            _ = isOver.wait(timeout: .now() + check.patience / .seconds(1))
            return
        }
    }

    /// Prints the violations if no Swift task can run that would hear of them.
    private func printUnlessHeard(_ violations: [String]) {
        let limit = DispatchTime.now() + check.patience / .seconds(1)
        guard !ContractPatience.takeTurn(until: limit) else { return }
        let text =
            "ContractCheck: all threads of Swift's tasks are blocked. It found:\n" + violations.joined(separator: "\n")
        _ = writeAll(Array("\(text)\n".utf8), to: STDERR_FILENO)
    }
}
