/// The state of a retried task, decided without threads, clocks or callbacks.
///
/// The phases:
/// - **running**: the loaders below have an attempt, or have just returned it.
/// - **pausing**: the next attempt exists and waits for its start.
/// - **over**: the task has its result. Nothing changes any more.
///
/// Every method changes the state and returns what there is to do, which the owner does after it has unlocked.
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

    var isPausing: Bool {
        if case .pausing = phase { true } else { false }
    }

    /// Whether another attempt is possible; not after a reset.
    var mayGoOn: Bool {
        if case .running = phase { !isReset } else { false }
    }

    // MARK: Attempts

    /// Starts the next attempt without a pause; returns whether that is possible.
    mutating func goOn() -> Bool {
        guard mayGoOn else { return false }
        attempts += 1
        return true
    }

    /// The task has its result; returns the resets that waited for it.
    mutating func end() -> [Waiter] {
        phase = .over
        return replace(&waiters, with: [])
    }

    // MARK: Pauses

    /// Starts a pause; returns the number to schedule a timer with, or nil if there is no next attempt.
    mutating func pause(_ pause: Pause) -> UInt64? {
        guard mayGoOn else { return nil }
        phase = .pausing(pause)
        return alarm.set()
    }

    /// A pause that is over, with its timer.
    struct EndedPause {
        let pause: Pause
        let timer: (any ScheduledTimer)?
    }

    /// Ends a pause whose timer fired, to start the attempt; nil if the pause has ended otherwise.
    mutating func resume(_ number: UInt64) -> EndedPause? {
        guard case .pausing(let pause) = phase, let rung = alarm.ring(number) else { return nil }
        phase = .running
        attempts += 1
        return EndedPause(pause: pause, timer: rung.timer)
    }

    /// Ends a pause whose attempt is to be completed without having run; nil if there is none.
    mutating func interrupt() -> EndedPause? {
        guard case .pausing(let pause) = phase else { return nil }
        phase = .running
        return EndedPause(pause: pause, timer: alarm.clear())
    }

    // MARK: Timers and resets

    /// Stores a timer that was scheduled; returns it to be cancelled if its setting is out of date.
    mutating func keep(_ timer: any ScheduledTimer, of number: UInt64) -> (any ScheduledTimer)? {
        alarm.keep(timer, of: number)
    }

    enum Reset {
        /// The task has its result.
        case isOver
        /// The waiter is kept until the task has its result. If there was a pause, it has ended.
        case waits(EndedPause?)
    }

    /// Keeps a reset until the task has its result, and prevents further attempts.
    mutating func reset(_ waiter: Waiter) -> Reset {
        if case .over = phase { return .isOver }
        isReset = true
        waiters.append(waiter)
        return .waits(interrupt())
    }

    /// Forgets the resets that fulfil a condition, and returns them; there are no further attempts all the same.
    mutating func giveUp(where isGivenUp: (Waiter) -> Bool) -> [Waiter] { waiters.take(where: isGivenUp) }
}
