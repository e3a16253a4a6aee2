/// A task that has to wait in a throttle, from its arrival until it is over.
///
/// It is the one allocation that waiting costs: it is the link of the list it waits in, and it hears of its task's cancel
/// and end.
///
/// Everything that changes while others can see it is protected by the throttle's lock. What is handed out with the
/// waiter when it leaves its list (the task and the timer) belongs to whoever took it out.
final class ThrottleWaiter: HTTPTaskObserver, @unchecked Sendable {
    /// Where the waiter has got to.
    enum Place {
        /// It was made and is not in a list yet.
        case arriving
        /// It is in a list.
        case waiting
        /// Its task was passed on, or is about to be, and is counted.
        case running
        /// Nothing is left to do for it.
        case gone
    }

    private let state: Guarded<ThrottleState>
    let priority: ThrottlePriority
    private let isMeasured: Bool
    var place = Place.arriving
    /// How many times the lists had been emptied when it was put into one; of an earlier list, it waits no longer.
    var era: UInt32 = 0
    var next: WaiterList.Link?
    var previous: WaiterList.Link?
    private var task: HTTPTask?
    private var timer: (any ScheduledTimer)?

    /// What its end gives a slot back to, from when it has one.
    private var throttle: Throttle?
    /// Its host, which is kept for as long as it has a waiting or a running task.
    var host: ThrottleHost?
    /// Which waiters came before it.
    var ticket: UInt64 = 0
    let number: UInt64

    /// Makes one whose wait has begun; somebody may measure it.
    init(_ task: HTTPTask, isMeasured: Bool, in state: Guarded<ThrottleState>) {
        number = task.number
        priority = task.option(ThrottlePriority.self)
        self.state = state
        self.task = task
        self.isMeasured = isMeasured
    }

    /// The host that the task is counted for; the empty name where it is still to be filled in.
    var hostName: String {
        guard let host = task?.host else { return "" }
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return host.utf8.contains(where: capitals.contains) ? host.lowercased() : host
    }

    /// Holds a throttle, in the step in which its task gets a slot of it.
    ///
    /// While it waits it holds none: a throttle that everybody has let go of must be able to end, and let go of the tasks
    /// that nobody can start any more.
    @inline(__always)
    func hold(_ throttle: Throttle) {
        self.throttle = throttle
    }

    @inline(never)
    private func endWait() { task?.endWait() }

    /// Gives its task, and lets go of all that it needed for waiting, on behalf of whoever took it out of its list.
    @inline(__always)
    func takeTask() -> HTTPTask? {
        if timer != nil { exchange(&timer, with: nil)?.cancel() }
        if isMeasured { endWait() }
        return exchange(&task, with: nil)
    }
}

// MARK: - What ends the waiting

extension ThrottleWaiter {
    /// Completes the task with an error, if it still waits.
    func fail(_ code: HTTPError.Code, reason: String? = nil) {
        guard state.withLock({ $0.leave(self) }) else { return }
        takeTask()?.fail(code, reason: reason)
    }

    /// Lets it wait no longer than for `duration`.
    func wait(noLongerThan duration: Duration, by timers: any Timers) {
        let timer = timers.schedule(after: duration) {
            self.fail(.queueTimedOut, reason: "It waited for \(duration), which is as long as it may")
        }
        let isNeeded = state.withLock { state in
            let isWaiting = state.isWaiting(self)
            if isWaiting { self.timer = timer }
            return isWaiting
        }
        if !isNeeded { timer.cancel() }
    }

    /// Completes a waiter's task; whoever was passed the task completes it otherwise.
    func taskWasCancelled(_ task: HTTPTask) {
        fail(.cancelled)
    }

    /// Gives its slot back, if it had one.
    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        let end = state.withLock { state in
            let end = state.end(self)
            if let throttle { end.starts(in: throttle) }
            return end
        }
        // Somebody else completed the task while it waited.
        if end.wasWaiting { _ = takeTask() }
        // It is held since the task got its slot, and the waiter lives until the end of this call.
        throttle?.carryOut(end)
    }
}
