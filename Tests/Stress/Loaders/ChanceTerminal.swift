import Dispatch
import LoaderChain
import Synchronization

/// Answers at once or on another thread, well or badly, or lets go of the task, as chance has it.
final class ChanceTerminal: HTTPLoader, @unchecked Sendable {
    private let dice: Dice
    private let ledger: Ledger
    private let failures: Int
    private let loads = Atomic(0)

    /// - Parameter failures: how many percent of the answers are failures of a kind that is worth another attempt.
    init(_ ledger: Ledger, seed: UInt64, failures: Int = 10) {
        self.ledger = ledger
        self.failures = failures
        dice = Dice(seed: seed)
    }

    override func load(task: HTTPTask) {
        if loads.wrappingAdd(1, ordering: .relaxed).newValue % 64 == 0 {
            ledger.watch(task, "a task at the end of the chain")
        }
        let chance = dice.next()
        switch chance % 8 {
        // Nobody has it any more.
        case 0 where chance & 0xF00 == 0: break
        case 0, 1, 2: DispatchQueue.global().async { self.answer(task, chance) }
        default: answer(task, chance)
        }
    }

    private func answer(_ task: HTTPTask, _ chance: UInt64) {
        // Read when it answers: others may have rewritten it since.
        let request = task.request
        guard chance / 16 % 100 < failures else {
            task.complete(.success(HTTPResponse(request: request, status: .ok)))
            return
        }
        switch chance / 1_600 % 3 {
        case 0: fail(task, .connectionLost)
        case 1: task.complete(.success(HTTPResponse(request: request, status: .unauthorized)))
        default: task.complete(.success(HTTPResponse(request: request, status: .serviceUnavailable)))
        }
    }
}
