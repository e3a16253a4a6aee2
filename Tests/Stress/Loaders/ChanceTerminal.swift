import Dispatch
import LoaderChain
import Synchronization

/// Responds at once or on another thread, with success or failure, or drops the task, at random.
final class ChanceTerminal: HTTPLoader, @unchecked Sendable {
    private let random: RandomSource
    private let ledger: Ledger
    private let failures: Int
    private let loads = Atomic(0)

    /// - Parameter failures: the percentage of responses that are failures worth a retry.
    init(_ ledger: Ledger, seed: UInt64, failures: Int = 10) {
        self.ledger = ledger
        self.failures = failures
        random = RandomSource(seed: seed)
    }

    override func load(task: HTTPTask) {
        if loads.wrappingAdd(1, ordering: .relaxed).newValue % 64 == 0 {
            ledger.watch(task, "a task at the end of the chain")
        }
        let chance = random.next()
        switch chance % 8 {
        // The task is abandoned.
        case 0 where chance & 0xF00 == 0: break
        case 0, 1, 2: DispatchQueue.global().async { self.answer(task, chance) }
        default: answer(task, chance)
        }
    }

    private func answer(_ task: HTTPTask, _ chance: UInt64) {
        // Read here, because other threads may have changed it since.
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
