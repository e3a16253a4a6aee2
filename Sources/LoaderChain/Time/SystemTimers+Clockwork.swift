import Dispatch

/// What moves the wheel of the system timers: a lock around it, and a wake-up set for its next expiry.
///
/// An action that waits is in the wheel. The call that takes it out under the lock decides: the clockwork, which then runs
/// it, or ``SystemTimer/cancel()``, which then lets go of it. Either happens after unlocking.
final class Clockwork: Sendable {
    private let state: Guarded<State>

    init() {
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "LoaderChain.SystemTimers"))
        state = Guarded(State(wheel: TimerWheel(present: .tick(reachedBy: .uptime)), source: source))
        source.setEventHandler { [weak self] in self?.wake() }
        source.activate()
    }

    var isArmed: Bool {
        state.withLock(\.isArmed)
    }

    func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> SystemTimer {
        let present = UInt64.tick(reachedBy: .uptime)
        let action = TimerAction(run: action)
        let ticket = state.withLock { $0.insert(action, at: .tick(notBefore: deadline), present: present) }
        return SystemTimer(clockwork: self, ticket: ticket)
    }

    /// Takes an action out, unless it has been taken already.
    func remove(_ ticket: TimerWheel<TimerAction>.Ticket) -> TimerAction? {
        state.withLock { $0.remove(ticket) }
    }

    /// Lets go of all that waits, once nothing more can be scheduled.
    func stop() {
        // The actions end with the wheel, outside the lock.
        _ = state.withLock { state in
            state.source.cancel()
            return exchange(&state.wheel, with: TimerWheel(present: .max))
        }
    }

    /// Runs, on the queue of the source, what is due by now.
    private func wake() {
        state.withLock { $0.wakeUp = State.awake }
        let tick = UInt64.tick(reachedBy: .uptime)
        while let action = state.withLock({ $0.nextDue(by: tick) }) { action.run() }
    }
}

/// What a timer runs; in a structure of its own, because a generic container would wrap a bare function in another.
struct TimerAction: Sendable {
    let run: @Sendable () -> Void
}

private struct State {
    /// The wake-up while none is set.
    static let never = UInt64.max
    /// The wake-up while the clockwork is at work.
    ///
    /// Nothing is earlier, so nothing is armed before the work is done.
    static let awake = UInt64.min
    /// How far ahead a wake-up is set at most, a day, since the system cannot count to the end of our time.
    static let longestRest: UInt64 = 24 * 60 * 60 * 1000

    var wheel: TimerWheel<TimerAction>
    let source: any DispatchSourceTimer
    /// The tick for which the source is set.
    var wakeUp = State.never

    init(wheel: TimerWheel<TimerAction>, source: any DispatchSourceTimer) {
        self.wheel = wheel
        self.source = source
    }

    /// Whether the source is set.
    ///
    /// While the clockwork is at work, the source has gone off and is not set yet.
    var isArmed: Bool { wakeUp != State.never && wakeUp != State.awake }

    mutating func insert(_ action: TimerAction, at tick: UInt64, present: UInt64) -> TimerWheel<TimerAction>.Ticket {
        wheel.catchUp(with: present)
        let ticket = wheel.insert(action, at: tick)
        armIfEarlier()
        return ticket
    }

    mutating func remove(_ ticket: TimerWheel<TimerAction>.Ticket) -> TimerAction? {
        guard let action = wheel.remove(ticket) else { return nil }
        // A wake-up that has become too early does no harm and saves arming another. One for nothing at all goes.
        if wheel.count == 0, isArmed {
            wakeUp = State.never
            source.schedule(deadline: .distantFuture)
        }
        return action
    }

    /// The next action to run, or `nil` once nothing more is due by `tick`, and the wake-up for the rest is set.
    mutating func nextDue(by tick: UInt64) -> TimerAction? {
        if let action = wheel.advance(to: tick) { return action }
        wakeUp = State.never
        armIfEarlier()
        return nil
    }

    private mutating func armIfEarlier() {
        guard let expiry = wheel.nextExpiry, expiry < wakeUp else { return }
        wakeUp = min(expiry, wheel.present + State.longestRest)
        source.schedule(deadline: DispatchTime(uptimeNanoseconds: wakeUp * nanosecondsPerTick))
    }
}

/// The timer of an action in the wheel, which alone holds the action.
final class SystemTimer: ScheduledTimer {
    private let clockwork: Clockwork
    private let ticket: TimerWheel<TimerAction>.Ticket

    init(clockwork: Clockwork, ticket: TimerWheel<TimerAction>.Ticket) {
        self.clockwork = clockwork
        self.ticket = ticket
    }

    func cancel() -> Bool {
        clockwork.remove(ticket) != nil
    }
}

private let nanosecondsPerTick: UInt64 = 1_000_000

extension UInt64 {
    /// The last tick that has begun at an instant.
    fileprivate static func tick(reachedBy instant: TimerInstant) -> UInt64 {
        UInt64(clamping: instant.nanoseconds) / nanosecondsPerTick
    }

    /// The first tick that begins no earlier than an instant.
    fileprivate static func tick(notBefore instant: TimerInstant) -> UInt64 {
        let (tick, rest) = UInt64(clamping: instant.nanoseconds).quotientAndRemainder(dividingBy: nanosecondsPerTick)
        return rest > 0 ? tick + 1 : tick
    }
}
