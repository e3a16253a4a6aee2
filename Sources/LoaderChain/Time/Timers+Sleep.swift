extension Timers {
    /// Suspends the current Swift task for `duration`; returns at once if that is zero or less.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled. No timer is left then.
    public func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        let sleeper = Sleeper()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard sleeper.fallAsleep(continuation) else { return }
                sleeper.set(schedule(after: duration) { sleeper.wake(with: .success(())) })
            }
        } onCancel: {
            sleeper.wake(with: .failure(CancellationError()))
        }
    }
}

/// One sleep, which either its timer or the cancellation of its task ends.
private final class Sleeper: Sendable {
    private typealias Continuation = CheckedContinuation<Void, any Error>

    private enum State {
        /// The task is about to sleep.
        case awake
        /// The task sleeps; its timer is being scheduled.
        case asleep(Continuation)
        /// The task sleeps until the timer fires.
        case alarmed(Continuation, any ScheduledTimer)
        /// The sleep has ended, perhaps before it began.
        case over(Result<Void, any Error>)
    }

    private let state = Locked(State.awake)

    /// Takes the continuation, or resumes it if the sleep is over already.
    ///
    /// - Returns: whether to schedule a timer.
    func fallAsleep(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
        let early: Result<Void, any Error>? = state.withLock { state in
            if case .over(let result) = state { return result }
            state = .asleep(continuation)
            return nil
        }
        guard let early else { return true }
        continuation.resume(with: early)
        return false
    }

    /// Stores the timer, or cancels it if the sleep ended while the timer was being scheduled.
    func set(_ alarm: any ScheduledTimer) {
        let isWanted = state.withLock { state in
            guard case .asleep(let continuation) = state else { return false }
            state = .alarmed(continuation, alarm)
            return true
        }
        if !isWanted { alarm.cancel() }
    }

    /// Ends the sleep, if it has not ended yet.
    func wake(with result: Result<Void, any Error>) {
        let before = state.withLock { state in
            let before = state
            if case .over = before { return before }
            state = .over(result)
            return before
        }
        switch before {
        case .awake, .over:
            // Before the sleep, the result is found when it begins; after it, there is nothing to do.
            break
        case .asleep(let continuation):
            continuation.resume(with: result)
        case .alarmed(let continuation, let alarm):
            alarm.cancel()
            continuation.resume(with: result)
        }
    }
}
