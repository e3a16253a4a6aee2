import Dispatch

/// What moves the wheel of the system timers: a lock around it, and a wake-up set for its next expiry.
///
/// A timer that waits is linked in the wheel, and whoever unlinks it under the lock has won: the clockwork, which then
/// runs the action, or ``SystemTimer/cancel()``, which then drops it. Either happens after unlocking.
///
/// Each waiting timer holds the clockwork, which holds the wheel, which holds the timer. The ring is open again when
/// the timer has run or is cancelled, and ``stop()`` opens what is left of it.
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
        let timer = SystemTimer(clockwork: self, action: action)
        let present = UInt64.tick(reachedBy: .uptime)
        state.withLock { $0.insert(timer, at: .tick(notBefore: deadline), present: present) }
        return timer
    }

    /// Takes a timer out, unless it has been taken already.
    func remove(_ timer: SystemTimer) -> Bool {
        state.withLock { $0.remove(timer) }
    }

    /// Lets go of all that waits, once nobody can schedule any more.
    func stop() {
        state.withLock { $0.source.cancel() }
        while let timer = state.withLock({ $0.wheel.advance(to: .max) }) { timer.drop() }
    }

    /// Runs, on the queue of the source, what is due by now.
    private func wake() {
        state.withLock { $0.wakeUp = State.awake }
        let tick = UInt64.tick(reachedBy: .uptime)
        while let timer = state.withLock({ $0.nextDue(by: tick) }) { timer.run() }
    }
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

    let wheel: TimerWheel<SystemTimer>
    let source: any DispatchSourceTimer
    /// The tick for which the source is set.
    var wakeUp = State.never

    init(wheel: TimerWheel<SystemTimer>, source: any DispatchSourceTimer) {
        self.wheel = wheel
        self.source = source
    }

    /// Whether the source is set.
    ///
    /// While the clockwork is at work, the source has gone off and is not set yet.
    var isArmed: Bool { wakeUp != State.never && wakeUp != State.awake }

    mutating func insert(_ timer: SystemTimer, at tick: UInt64, present: UInt64) {
        wheel.catchUp(with: present)
        wheel.insert(timer, at: tick)
        armIfEarlier()
    }

    mutating func remove(_ timer: SystemTimer) -> Bool {
        guard wheel.remove(timer) else { return false }
        // A wake-up that has become too early does no harm and saves arming another. One for nothing at all goes.
        if wheel.count == 0, isArmed {
            wakeUp = State.never
            source.schedule(deadline: .distantFuture)
        }
        return true
    }

    /// The next timer to run, or `nil` once nothing more is due by `tick`, and the wake-up for the rest is set.
    mutating func nextDue(by tick: UInt64) -> SystemTimer? {
        if let timer = wheel.advance(to: tick) { return timer }
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

/// A timer in the wheel.
///
/// The lock of the clockwork guards the link; whoever unlinks the timer owns its action.
final class SystemTimer: ScheduledTimer, TimerWheelEntry, @unchecked Sendable {
    var link = TimerWheelLink<SystemTimer>()
    private let clockwork: Clockwork
    private var action: (@Sendable () -> Void)?

    init(clockwork: Clockwork, action: @escaping @Sendable () -> Void) {
        self.clockwork = clockwork
        self.action = action
    }

    func cancel() -> Bool {
        guard clockwork.remove(self) else { return false }
        drop()
        return true
    }

    func run() {
        exchange(&action, with: nil)?()
    }

    func drop() {
        action = nil
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
