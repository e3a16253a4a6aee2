/// A task that has to wait in a throttle, from its arrival to its end.
final class ThrottleWaiter: HTTPTaskObserver, @unchecked Sendable {
    enum Phase {
        /// The waiter is not in a queue yet.
        case arrives
        /// The waiter is in a queue, unless all were taken out together.
        case waits(QueuePlace)
        /// Its task was passed on, or is about to be, and gives the slot back at its end.
        case runs(ThrottleSlot)
        /// There is nothing left to do for it.
        case isOver
    }

    /// Changed only by the core, under its lock.
    var phase = Phase.arrives
    /// The throttle that gets the slot back; changed with the phase.
    ///
    /// A waiter holds the throttle only while its task runs: a throttle that its owners have released must be able to end, and
    /// to release the tasks that can no longer start.
    var throttle: Throttle?
    private let core: ThrottleCore
    private let isMeasured: Bool
    /// Read where a deadline is unlikely, because reading the deadline itself would count a reference.
    private let hasDeadline: Bool
    /// Whether it had waited longest of all when it got its slot; changed with the phase.
    private(set) var isOldest = false
    /// How many microseconds it had waited then; the largest number if time does not matter.
    ///
    /// With a whole instant, waiters would be of the allocator's next size, and to cancel one of a million would take a fifth longer.
    private var waited = UInt32.max
    let deadline: ThrottleDeadline?
    /// When the task came; `never` if that does not matter.
    let arrival: TimerInstant
    // Both belong to the core's lock, and then to whatever has taken this waiter out of its queue.
    private var task: HTTPTask?
    /// The timer that ends the wait, if the throttle has a timeout.
    var timer: (any ScheduledTimer)?

    @inline(__always)
    init(_ task: HTTPTask, until deadline: ThrottleDeadline?, since arrival: TimerInstant, in core: ThrottleCore) {
        self.core = core
        self.task = task
        self.deadline = deadline
        self.arrival = arrival
        hasDeadline = deadline != nil
        isMeasured = task.beginWait()
    }

    /// When it got its slot; nil if time does not matter, or nobody had read the time yet.
    var start: TimerInstant? {
        waited == .max ? nil : TimerInstant(nanoseconds: arrival.nanoseconds + Int64(waited) * 1_000)
    }

    var waitingTask: HTTPTask? { task }

    /// Ends the wait, and returns the task; to be called once, by what has taken this out of its queue.
    @inline(__always)
    @discardableResult
    func end() -> HTTPTask? {
        if timer != nil { cancelTimer() }
        if isMeasured { endWait() }
        return replace(&task, with: nil)
    }

    @inline(never)
    private func cancelTimer() { replace(&timer, with: nil)?.cancel() }

    @inline(never)
    private func endWait() { task?.endWait() }

    /// Lets the task run from now on; under the core's lock.
    @inline(__always)
    func run(_ slot: ThrottleSlot, at now: TimerInstant, isOldest: Bool, in throttle: Throttle) {
        phase = .runs(slot)
        if arrival != .never, now >= arrival {
            waited = min(.max - 1, UInt32(clamping: (now.nanoseconds - arrival.nanoseconds) / 1_000))
        }
        self.isOldest = isOldest
        self.throttle = throttle
    }

    /// Fails the task, if it still waits.
    func fail(_ code: HTTPError.Code, reason: String? = nil) {
        guard core.remove(self) else { return }
        let isExpired = code == .queueTimedOut || task?.deadline?.hasPassed ?? false
        core.report(code == .shed ? .shed : isExpired ? .expired : .left, of: self)
        end()?.fail(code, reason: reason)
    }

    func taskWasCancelled(_ task: HTTPTask) { fail(.cancelled) }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        switch core.end(self, isGivenUp: result.error?.isGivenUp(task) ?? false) {
        case .ran(let end, let throttle, let now):
            if hasDeadline, let start { deadline?.learn(result, of: task, since: start, at: now) }
            throttle.carryOut(end)
        case .waited:
            core.report(.left, of: self)
            self.end()
        case .isNothing: break
        }
    }
}

/// Gives back the slot of a task that did not wait, where the slot is counted for a host.
final class ThrottleSlotHolder: HTTPTaskObserver {
    private let throttle: Throttle
    private let slot: ThrottleSlot

    init(_ slot: ThrottleSlot, of throttle: Throttle) {
        self.slot = slot
        self.throttle = throttle
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) { throttle.finish(slot) }
}

/// The deadline of a waiter, in an object of its own, so that other waiters stay small.
final class ThrottleDeadline: Sendable {
    let arrival: TimerInstant
    /// When the task must have ended, by the throttle's clock.
    let instant: TimerInstant
    /// How long tasks of its kind usually take from the slot to the result; nil while that is not known.
    let usualTime: Duration?
    private let kind: ThrottleKind

    init(_ instant: TimerInstant, arrival: TimerInstant, _ kind: ThrottleKind, isAdaptive: Bool) {
        self.instant = instant
        self.arrival = arrival
        self.kind = kind
        usualTime = kind.usualTime(at: arrival, isAdaptive: isAdaptive)
    }

    /// After that, a slot leaves less time than such tasks usually take.
    var latestStart: TimerInstant { usualTime.map { instant.advanced(by: .zero - $0) } ?? .never }

    /// Learns how long the task took from its slot on; to be called once it has given that back.
    @inline(never)
    func learn(_ result: HTTPResult, of task: HTTPTask, since start: TimerInstant, at now: TimerInstant) {
        guard let isDone = result.isDone(for: task) else { return }
        kind.learn(start.duration(to: now), isDone: isDone, at: now)
    }

    /// The reason why there is no slot for the task.
    func refusal(at now: TimerInstant) -> String {
        let left = max(.zero, now.duration(to: instant))
        let waited = max(.zero, arrival.duration(to: now))
        let usual = usualTime ?? .zero
        return "It waited for \(waited), and only \(left) are left; similar tasks take up to \(usual)"
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
    /// What was learned long ago is forgotten: while slots are short, tasks would be refused by an old time that they could have corrected.
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
    /// Whether the caller of a task left before there was a response; a loader may refuse a task for its deadline before that has come.
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
