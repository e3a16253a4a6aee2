/// Where a retried task stands, decided without threads, clocks or callbacks.
///
/// The phases:
/// - **running**: an attempt is with the loaders below, or has just come back from them.
/// - **pausing**: the next attempt exists and waits for its time, in what is called a pause.
/// - **over**: the task has its result. Nothing changes any more.
///
/// There is one alarm: in a pause it ends the pause, and while an attempt runs it is the deadline's. Every method changes
/// the state and returns what there is to do. The owner does that after it has unlocked.
struct RetryState<Pause: Sendable, Waiter: Sendable>: Sendable {
    private enum Phase {
        case running
        case pausing(Pause)
        case over
    }

    private var phase = Phase.running
    private var alarm = Alarm()
    private var waiters: [Waiter] = []
    /// How many attempts have been started.
    private(set) var attempts = 1
    private var isReset = false
    /// Whether the deadline came while an attempt was running.
    private(set) var isExpired = false

    var isPausing: Bool {
        if case .pausing = phase { true } else { false }
    }

    /// Whether there can be another attempt; a reset and the deadline end that.
    var mayGoOn: Bool {
        if case .running = phase { !isReset && !isExpired } else { false }
    }

    // MARK: Attempts

    /// The deadline is to be watched while an attempt runs: returns the number to set a timer with.
    mutating func watchDeadline() -> UInt64 { alarm.set() }

    /// The attempt that was running has ended: returns the deadline's timer, which is to be cancelled.
    mutating func attemptEnded() -> (any ScheduledTimer)? { alarm.clear() }

    /// The next attempt is to start now, and does if this answers true.
    mutating func goOn() -> Bool {
        guard mayGoOn else { return false }
        attempts += 1
        return true
    }

    /// The task has its result: returns who waited for that.
    mutating func end() -> [Waiter] {
        phase = .over
        return exchange(&waiters, with: [])
    }

    // MARK: Pauses

    /// The next attempt is to wait: returns the number to set a timer with, or nil where there is no next attempt.
    mutating func pause(_ pause: Pause) -> UInt64? {
        guard mayGoOn else { return nil }
        phase = .pausing(pause)
        return alarm.set()
    }

    /// A pause that is over, with what is left of its timer.
    struct EndedPause {
        let pause: Pause
        let timer: (any ScheduledTimer)?
    }

    /// The timer of a pause rang: the attempt is to start, unless the pause has ended otherwise.
    mutating func resume(_ number: UInt64) -> EndedPause? {
        guard case .pausing(let pause) = phase, let rung = alarm.ring(number) else { return nil }
        phase = .running
        attempts += 1
        return EndedPause(pause: pause, timer: rung.timer)
    }

    /// Nobody waits for the next attempt any more: a pause ends, and its attempt is to be completed without having run.
    mutating func interrupt() -> EndedPause? {
        guard case .pausing(let pause) = phase else { return nil }
        phase = .running
        return EndedPause(pause: pause, timer: alarm.clear())
    }

    // MARK: Timers and resets

    /// A timer has been scheduled: returns it if it is of no use any more, and to be cancelled.
    mutating func keep(_ timer: any ScheduledTimer, of number: UInt64) -> (any ScheduledTimer)? {
        alarm.keep(timer, of: number)
    }

    /// The deadline came: the attempt is to be cancelled if one is running.
    mutating func expire(_ number: UInt64) -> Alarm.Rung? {
        guard case .running = phase, let rung = alarm.ring(number) else { return nil }
        isExpired = true
        return rung
    }

    /// What a reset finds.
    enum Reset {
        /// The task has its result.
        case isOver
        /// The waiter is told when the task has its result. If there was a pause, it has ended.
        case waits(EndedPause?)
    }

    /// A reset wants to know when the task has its result; there are no further attempts.
    mutating func reset(_ waiter: Waiter) -> Reset {
        if case .over = phase { return .isOver }
        isReset = true
        waiters.append(waiter)
        return .waits(interrupt())
    }
}
