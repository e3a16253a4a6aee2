/// What a throttle knows of a task whose time is limited, in an object of its own, so that other tasks need no room for it.
final class ThrottleLimits: @unchecked Sendable {
    /// When the task came.
    let arrival: TimerInstant
    /// When the task must have ended, by the throttle's clock.
    let deadline: TimerInstant
    /// When the task left the queue; changed with the phase of the waiter, under the room's lock.
    private(set) var start: TimerInstant?

    init(arrival: TimerInstant, deadline: TimerInstant) {
        self.arrival = arrival
        self.deadline = deadline
    }

    /// Notes when the task leaves the queue.
    @inline(never)
    func starts(at now: TimerInstant) {
        // Another thread may have read the time before the first deadline came, when nothing depended on it.
        if now >= arrival { start = now }
    }

    /// Why there is no slot for the task.
    func refusal(at now: TimerInstant) -> String {
        let left = max(.zero, now.duration(to: deadline))
        let waited = max(.zero, arrival.duration(to: now))
        return "It waited for \(waited), and the \(left) that are left are less than such tasks usually take"
    }
}

/// How long a task ran that has a deadline.
struct ThrottleRun {
    let start: TimerInstant
    /// Whether it came to its own end, and was not ended by time.
    let isDone: Bool

    /// Nil if the task's result says nothing about the time that such tasks take.
    init?(since start: TimerInstant, isDone: Bool?) {
        guard let isDone else { return nil }
        self.start = start
        self.isDone = isDone
    }
}

extension HTTPResult {
    /// Whether the server did the work; nil if it refused, or if that is not known.
    ///
    /// A loader below may refuse a task for its deadline before that has come, which says nothing about the server.
    func isDone(for task: HTTPTask) -> Bool? {
        switch self {
        case .success: isTransientFailure ? nil : true
        case .failure(let error) where error.code == .deadlineExceeded:
            task.deadline?.hasPassed ?? false ? false : nil
        case .failure(let error): error.code == .timedOut ? false : nil
        }
    }
}
