/// What a throttle knows of a waiter whose time is limited, in an object of its own, so that others need no room for it.
final class ThrottleLimits: Sendable {
    /// When the task came.
    let arrival: TimerInstant
    /// When the task must have ended, by the throttle's clock.
    let deadline: TimerInstant
    /// How long tasks of its kind usually take from the slot to the result; nil while that is not known.
    let usualTime: Duration?
    private let kind: ThrottleKind

    init(arrival: TimerInstant, deadline: TimerInstant, _ kind: ThrottleKind, isAdaptive: Bool) {
        self.arrival = arrival
        self.deadline = deadline
        self.kind = kind
        usualTime = kind.usualTime(at: arrival, isAdaptive: isAdaptive)
    }

    /// After that, a slot leaves less time than such tasks usually take.
    var latestStart: TimerInstant { usualTime.map { deadline.advanced(by: .zero - $0) } ?? .never }

    /// Learns how long the task took from its slot on; to be called once it has given that back.
    @inline(never)
    func learn(_ result: HTTPResult, of task: HTTPTask, since start: TimerInstant, at now: TimerInstant) {
        guard let isDone = result.isDone(for: task) else { return }
        kind.learn(start.duration(to: now), isDone: isDone, at: now)
    }

    /// Why there is no slot for the task.
    func refusal(at now: TimerInstant) -> String {
        let left = max(.zero, now.duration(to: deadline))
        let waited = max(.zero, arrival.duration(to: now))
        let usual = usualTime ?? .zero
        return
            "It waited for \(waited), and the \(left) that are left are less than the \(usual) that such a task may take"
    }
}

/// How long the tasks of one kind with a deadline usually take, from the slot to the result.
package final class ThrottleKind: Sendable {
    private struct State {
        var time = UsualTime()
        var learned = TimerInstant(nanoseconds: 0)
    }

    private let state = Locked(State())

    package init() {}

    /// The time that most of them do not exceed; nil while that is not known.
    ///
    /// What was learned long ago is forgotten: as long as slots are short, tasks would be judged by it that would tell otherwise.
    ///
    /// - Parameter isAdaptive: whether the number of slots changes, and with it the time. Then it is a quarter more, as those whose
    ///   turn it is under overload have no time to spare.
    package func usualTime(at now: TimerInstant, isAdaptive: Bool) -> Duration? {
        state.withLock { state in
            guard let time = state.time.estimate else { return nil }
            let silence = state.learned.duration(to: now)
            if silence > .seconds(1), silence > time * 8 {
                state.time = UsualTime()
                return nil
            }
            return isAdaptive ? time * 5 / 4 : time
        }
    }

    /// Learns how long a task took, or that it was ended before it was done.
    package func learn(_ time: Duration, isDone: Bool, at now: TimerInstant) {
        state.withLock { state in
            if isDone { state.time.learn(time) } else if !state.time.learn(unfinishedAfter: time) { return }
            state.learned = now
        }
    }
}

extension HTTPError {
    /// Whether the caller of a task has left before there was a response.
    ///
    /// A loader may refuse a task for its deadline before that has come.
    func isGivenUp(_ task: HTTPTask) -> Bool {
        // A task that its deadline ends has no response, even if the body of one was arriving.
        guard response == nil, !task.hasHead else { return false }
        return code == .cancelled || code == .deadlineExceeded && task.deadline?.hasPassed ?? false
    }
}

extension HTTPResult {
    /// Whether the server did the work; nil if it refused, or if that is not known.
    ///
    /// A loader below may refuse a task for its deadline before that has come, which says nothing about the server.
    fileprivate func isDone(for task: HTTPTask) -> Bool? {
        switch self {
        case .success: isTransientFailure ? nil : true
        case .failure(let error):
            error.code == .timedOut || error.isGivenUp(task) && error.code != .cancelled ? false : nil
        }
    }
}
