import Dispatch
import LoaderChain

/// Runs one part of a check on threads that a blocking loader may occupy forever.
final class ContractCalls: Sendable {
    private let stage: ContractStage
    private let state = Locked(State.runs(nil))

    private enum State {
        case runs(UnsafeContinuation<Bool, Never>?)
        case isOver(Bool)
    }

    init(_ stage: ContractStage) { self.stage = stage }

    /// Runs `part`, and returns whether it ended.
    ///
    /// Every wait of a part ends when the patience is exhausted. If nothing at all happens for twice as long, a call blocks.
    func run(_ part: @escaping @Sendable () async -> Void) async -> Bool {
        Task.detached(executorPreference: stage.threads) {
            await part()
            self.end(true)
        }
        watch(since: stage.steps)
        return await withUnsafeContinuation { continuation in
            let isOver = state.withLock { state -> Bool? in
                if case .isOver(let answer) = state { return answer }
                state = .runs(continuation)
                return nil
            }
            if let isOver { continuation.resume(returning: isOver) }
        }
    }

    private func watch(since steps: Int) {
        SystemTimers.shared.schedule(after: stage.check.patience * 2) { [weak self] in
            guard let self else { return }
            let present = stage.steps
            if present == steps { end(false) } else { watch(since: present) }
        }
    }

    private func end(_ isOver: Bool) {
        let waiting = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
            guard case .runs(let waiting) = state else { return nil }
            state = .isOver(isOver)
            return waiting
        }
        waiting?.resume(returning: isOver)
    }
}

/// Threads for calls that may never return, which must not occupy the few threads that Swift's tasks share.
final class CallThreads: TaskExecutor {
    private let queue = DispatchQueue(label: "ContractCheck", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
