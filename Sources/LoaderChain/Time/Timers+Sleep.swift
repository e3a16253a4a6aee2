extension Timers {
    /// Suspends the task for `duration`; not at all if that is zero or less.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled. Nothing is left waiting then.
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

/// One sleep, which its alarm and its task's cancellation race to end.
private final class Sleeper: Sendable {
    private typealias Continuation = CheckedContinuation<Void, any Error>

    private enum State {
        /// The task is on its way to bed.
        case awake
        /// The task sleeps; its alarm is being set.
        case asleep(Continuation)
        /// The task sleeps until the alarm.
        case alarmed(Continuation, any ScheduledTimer)
        /// The sleep has ended, perhaps before it began.
        case over(Result<Void, any Error>)
    }

    private let state = Guarded(State.awake)

    /// Takes the continuation, or resumes it if the sleep is over already.
    ///
    /// - Returns: Whether an alarm is wanted.
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

    /// Keeps the alarm, or cancels it if the sleep ended while the alarm was being set.
    func set(_ alarm: any ScheduledTimer) {
        let isWanted = state.withLock { state in
            guard case .asleep(let continuation) = state else { return false }
            state = .alarmed(continuation, alarm)
            return true
        }
        if !isWanted { alarm.cancel() }
    }

    /// Ends the sleep, if it is the first to do so.
    func wake(with result: Result<Void, any Error>) {
        let before = state.withLock { state in
            let before = state
            if case .over = before { return before }
            state = .over(result)
            return before
        }
        switch before {
        case .awake, .over:
            // Nobody sleeps yet, and whoever lies down will find the result; or nobody sleeps any more.
            break
        case .asleep(let continuation):
            continuation.resume(with: result)
        case .alarmed(let continuation, let alarm):
            alarm.cancel()
            continuation.resume(with: result)
        }
    }
}
