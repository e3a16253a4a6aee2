/// The race of one request, decided without threads, clocks or callbacks.
///
/// Up to two attempts work for the task:
/// - The **first** is under way from the beginning. While it is alone, the owner's alarm is set for the moment at which a
///   second would be sent; time that the first spends in queues below does not count.
/// - The **second** is *prepared* first. If it has ended by then, nothing was sent: the task was cancelled or completed at
///   the same moment. It is *starting* while it is passed on. If it has to wait in a queue by then, it is *withdrawn*:
///   nothing was sent. Otherwise it is *under way*.
///
/// The first acceptable outcome decides. Without one, the end of the last attempt does, with the first attempt's outcome. After
/// a cancel only the end of both decides: the loaders below must have stopped. The race is over when both attempts have ended
/// and the task has its result. Nothing changes any more then.
///
/// Every method changes the state and returns what the owner must do, which it does after it has unlocked.
struct HedgeState<Outcome: Sendable, Waiter: Sendable>: Sendable {
    enum Attempt: Sendable { case first, second }

    enum Second: Sendable { case unsent, prepared, starting, withdrawn, underWay, ended }

    private enum Progress { case open, decided, settled }

    private var firstIsUnderWay = true
    private(set) var second = Second.unsent
    /// Whether the second attempt was under way at any time, or has won.
    private var wasSent = false
    /// The first attempt's outcome, while the second may still have a better one.
    private var standing: Outcome?
    /// Whether the first attempt has reached the delay.
    private var isSlow = false
    /// Whether there is an outcome, and whether the task has it already.
    private var progress = Progress.open
    private var isCancelled = false
    /// Whether no second attempt may be sent any more.
    private var isClosed = false
    private var waiters: [Waiter] = []

    private let delay: Duration
    private var time: ActiveTime

    init(delay: Duration, at now: TimerInstant) {
        self.delay = delay
        time = ActiveTime(since: now)
    }

    private var secondIsUnderWay: Bool {
        switch second {
        case .unsent, .ended: false
        case .prepared, .starting, .withdrawn, .underWay: true
        }
    }

    var isOver: Bool { progress == .settled && !firstIsUnderWay && !secondIsUnderWay }

    private var maySend: Bool { firstIsUnderWay && second == .unsent && !isClosed }

    // MARK: The alarm

    /// The time at which the second attempt is due, if known; nil if none is, or the first waits in a queue.
    func alarmTime(at now: TimerInstant) -> TimerInstant? {
        guard maySend, !isSlow, !time.isWaiting else { return nil }
        return now.advanced(by: delay - time.passed(at: now))
    }

    /// Takes the ring of the alarm; returns whether the second attempt is due: not if the first was in a queue meanwhile, or still is.
    mutating func ring(at now: TimerInstant) -> Bool {
        guard let due = alarmTime(at: now), due <= now else { return false }
        isSlow = true
        return true
    }

    mutating func beginWait(at now: TimerInstant) { time.beginWait(at: now) }

    /// The first attempt has left a queue, and the alarm has to be set again.
    mutating func endWait(at now: TimerInstant) { time.endWait(at: now) }

    // MARK: The second attempt

    /// Prepares the second attempt; returns whether it may be sent.
    mutating func prepare() -> Bool {
        guard maySend else { return false }
        second = .prepared
        return true
    }

    /// Begins to send the second attempt; returns whether to pass it on: not if it has ended meanwhile.
    mutating func send() -> Bool {
        guard second == .prepared else { return false }
        second = .starting
        return true
    }

    /// The second attempt has been passed on; returns whether it is under way.
    mutating func hasStarted() -> Bool {
        guard second == .starting else { return false }
        second = .underWay
        wasSent = true
        return true
    }

    /// The second attempt has to wait in a queue; returns its phase until now, and nil if it does not matter any more.
    ///
    /// Cancel it then. Only an attempt that was starting has cost nothing.
    mutating func withdraw() -> Second? {
        guard progress == .open, second == .starting || second == .underWay else { return nil }
        let before = second
        if before == .starting { second = .withdrawn }
        return before
    }

    // MARK: The end

    /// What the end of an attempt leads to.
    struct End {
        /// The outcome that completes the task; the race has to be settled then.
        var outcome: Outcome?
        var winner: Attempt?
        /// The phase of the second attempt until now.
        var second: Second
        /// The duration of the first attempt, if this ends it or makes it the loser.
        var time: Duration?
        var isSlow: Bool
        var wasHedged = false
        /// The resets that waited, if the race is over; nil if it is not.
        var waiters: [Waiter]?
    }

    mutating func end(_ attempt: Attempt, with outcome: Outcome, isAcceptable: Bool, at now: TimerInstant) -> End {
        var end = End(second: second, isSlow: isSlow)
        let isWithdrawn = second == .withdrawn || second == .prepared
        let isUsable = isAcceptable && !isCancelled && !(attempt == .second && isWithdrawn)
        if firstIsUnderWay, progress == .open, attempt == .first || isUsable { end.time = time.passed(at: now) }
        switch attempt {
        case .first: firstIsUnderWay = false
        case .second: second = .ended
        }
        if progress == .open {
            let isLast = !firstIsUnderWay && !secondIsUnderWay
            if isUsable || isLast {
                // If both have failed, the first attempt's outcome stands.
                let winner: Attempt = isUsable ? attempt : .first
                end.winner = winner
                end.outcome = winner == attempt ? outcome : standing
                if winner == .second { wasSent = true }
                progress = .decided
            } else if attempt == .first {
                standing = outcome
            }
        }
        end.wasHedged = wasSent
        end.waiters = takeWaiters()
        return end
    }

    /// The task has its result; returns the resets that waited, if the race is over.
    mutating func settle() -> [Waiter]? {
        progress = .settled
        return takeWaiters()
    }

    private mutating func takeWaiters() -> [Waiter]? {
        isOver ? replace(&waiters, with: []) : nil
    }

    /// The task was cancelled, and with it its attempts.
    mutating func cancel() {
        isCancelled = true
        isClosed = true
    }

    /// Keeps a reset until the race is over, and prevents a second attempt; returns false if it is over.
    mutating func reset(_ waiter: Waiter) -> Bool {
        guard !isOver else { return false }
        isClosed = true
        waiters.append(waiter)
        return true
    }

    /// Forgets the resets that fulfil a condition, and returns them; there is no second attempt all the same.
    mutating func giveUp(where isGivenUp: (Waiter) -> Bool) -> [Waiter] { waiters.take(where: isGivenUp) }
}

/// How long an attempt has taken, without the time in queues.
struct ActiveTime: Sendable {
    private let start: TimerInstant
    private var waits = WaitClock()

    init(since start: TimerInstant) { self.start = start }

    var isWaiting: Bool { waits.isWaiting }

    mutating func beginWait(at now: TimerInstant) { waits.begin(at: now) }
    mutating func endWait(at now: TimerInstant) { waits.end(at: now) }

    /// The time up to now; never negative, as two threads may read the clock in one order and arrive in the other.
    func passed(at now: TimerInstant) -> Duration {
        max(.zero, start.duration(to: now) - waits.total(at: now))
    }
}
