import Dispatch

/// Drives the wheel of the system timers: a lock around it, and a wake-up for its next expiry.
///
/// A waiting action is in the wheel. Either the clockwork takes it out under the lock and then runs it, or
/// ``SystemTimer/cancel()`` takes it out and then releases it. Both happen after unlocking.
final class Clockwork: Sendable {
    private let state: Locked<State>

    init() {
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "LoaderChain.SystemTimers"))
        state = Locked(State(wheel: TimerWheel(present: .tick(reachedBy: .uptime)), source: source))
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

    /// Releases all actions that wait, when no more can be scheduled.
    func stop() {
        // The actions end with the wheel, outside the lock.
        _ = state.withLock { state in
            state.source.cancel()
            return replace(&state.wheel, with: TimerWheel(present: .max))
        }
    }

    /// Runs, on the queue of the source, what is due by now.
    private func wake() {
        state.withLock { $0.wakeUp = State.awake }
        let tick = UInt64.tick(reachedBy: .uptime)
        while let action = state.withLock({ $0.nextDue(by: tick) }) { action.run() }
    }
}

/// The action of a timer; a structure, because a generic container would wrap a bare function in another one.
struct TimerAction: Sendable {
    let run: @Sendable () -> Void
}

private struct State {
    /// The wake-up while none is set.
    static let never = UInt64.max
    /// The wake-up while the clockwork is running actions.
    ///
    /// Nothing is earlier, so no wake-up is set before that is done.
    static let awake = UInt64.min
    /// The longest time until a wake-up, a day: the system's clock has a smaller range than ours.
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
    /// While the clockwork is running actions, the source has fired and is not set again yet.
    var isArmed: Bool { wakeUp != State.never && wakeUp != State.awake }

    mutating func insert(_ action: TimerAction, at tick: UInt64, present: UInt64) -> TimerWheel<TimerAction>.Ticket {
        wheel.catchUp(with: present)
        let ticket = wheel.insert(action, at: tick)
        armIfEarlier()
        return ticket
    }

    mutating func remove(_ ticket: TimerWheel<TimerAction>.Ticket) -> TimerAction? {
        guard let action = wheel.remove(ticket) else { return nil }
        // A wake-up that has become too early does no harm, and saves setting another. One for an empty wheel is
        // cancelled.
        if wheel.count == 0, isArmed {
            wakeUp = State.never
            source.schedule(deadline: .distantFuture)
        }
        return action
    }

    /// The next action to run; nil if no more are due by `tick`, after setting the wake-up for the rest.
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

/// The timer of an action; the wheel alone holds the action.
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
