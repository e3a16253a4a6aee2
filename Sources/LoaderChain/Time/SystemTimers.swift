import Dispatch
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// The time of the machine.
///
/// A timer costs one allocation in addition to its action's own. Scheduling and cancelling take the same time whether ten
/// timers wait or a million: they wait in a timing wheel, and a single wake-up of the system serves them all. When no timer
/// waits, no wake-up is set, except for one that was set before, comes within a minute, and then finds nothing.
///
/// Timers have a resolution of a millisecond and are never early: a deadline is rounded up. The clock is the system's
/// uptime, which the wake-up uses too. It stops while the machine sleeps, and a wait continues afterwards.
///
/// An action may block its thread. The clock's own queue only decides what is due, and hands it to a thread that runs one
/// action after the other, in the order of their deadlines. If that thread has not come to the next one after a
/// millisecond, another thread runs it. So several actions can run at once. Each of them that blocks delays those behind
/// it by a millisecond, until 128 block at the same time: then the next one waits until one of them returns. Until it
/// begins, its timer can be cancelled.
public final class SystemTimers: Timers {
    /// The timers that a program shares.
    public static let shared = SystemTimers()

    private let clockwork: Clockwork

    /// Makes timers with threads and a wake-up of their own.
    ///
    /// Actions that wait are released together with them.
    public convenience init() { self.init(lanes: Clockwork.mostLanes) }

    /// Makes timers that run at most `lanes` actions at once.
    package init(lanes: Int) { clockwork = Clockwork(lanes: lanes) }

    deinit { clockwork.stop() }

    /// The system's uptime.
    public var now: TimerInstant { .uptime }

    /// The date and the time of day that the system shows.
    public var date: Date { Date() }

    /// Runs `action` on a thread of the timers, in the first millisecond that begins no earlier than `deadline`.
    @discardableResult
    public func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        clockwork.schedule(at: deadline, action)
    }

    /// Whether a wake-up of the system is set.
    package var isArmed: Bool { clockwork.isArmed }
}

extension TimerInstant {
    /// The clock that Dispatch's timers use.
    static var uptime: TimerInstant {
        #if os(Linux)
            // Dispatch reads this clock too, and takes twice as long.
            return now(of: CLOCK_MONOTONIC)
        #else
            return TimerInstant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
        #endif
    }

    /// The clock that goes on while the machine sleeps.
    static var continuous: TimerInstant {
        #if os(Linux)
            return now(of: CLOCK_BOOTTIME)
        #else
            return TimerInstant(nanoseconds: startOfContinuous.duration(to: .now).saturatedNanoseconds)
        #endif
    }

    #if os(Linux)
        private static func now(of clock: clockid_t) -> TimerInstant {
            var time = timespec()
            clock_gettime(clock, &time)
            return TimerInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
        }
    #else
        private static let startOfContinuous = ContinuousClock.now
    #endif
}

/// The monotonic clock of given timers, read without a call through a protocol where the timers are the system's.
final class TimerClock: Sendable {
    let timers: any Timers
    let isSystem: Bool

    init(_ timers: any Timers) {
        self.timers = timers
        isSystem = timers is SystemTimers
    }

    @inline(__always)
    var now: TimerInstant { isSystem ? .uptime : timers.now }
}

/// Drives the wheel of the system timers: a lock around it, a wake-up for its next expiry, and threads for what is due.
///
/// The clock has a queue on which nothing but decisions are made. Actions run on lanes, which are serial queues: Dispatch gives
/// each its own thread at once. A concurrent queue on Linux gets a thread for a blocked one only after a second, and few in the
/// end. A lane that has nothing more to run is kept for the next time.
///
/// A waiting action is in the wheel. Either the clockwork takes it out under the lock and hands it to a lane, or
/// ``SystemTimer/cancel()`` takes it out and then releases it.
private final class Clockwork: Sendable {
    /// How many lanes can run at once: half of the threads that Dispatch has for such queues on Linux.
    ///
    /// The other half is for the clock, and for all other queues of the process.
    static let mostLanes = 128

    private let state: Locked<State>

    init(lanes: Int) {
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "LoaderChain.SystemTimers"))
        let rota = Rota(present: .tick(reachedBy: .uptime), mostWorkers: lanes)
        state = Locked(State(rota: rota, source: source))
        source.setEventHandler { [weak self] in self?.wake() }
        source.activate()
    }

    var isArmed: Bool { state.withLock { $0.rota.wakeUp != Rota.never } }

    func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> SystemTimer {
        let present = UInt64.tick(reachedBy: .uptime)
        let action = TimerAction(run: action)
        let ticket = state.withLock { state in
            state.change { $0.insert(action, at: .tick(notBefore: deadline), present: present) }
        }
        return SystemTimer(clockwork: self, ticket: ticket)
    }

    /// Takes an action out, unless it has been taken already.
    func remove(_ ticket: Rota.Ticket) -> TimerAction? {
        state.withLock { state in state.change { $0.remove(ticket) } }
    }

    /// Releases all actions that wait, when no more can be scheduled.
    func stop() {
        // The actions end with the wheel, outside the lock.
        _ = state.withLock { state in
            state.source.cancel()
            return state.rota.stop()
        }
    }

    /// Calls a lane, on the queue of the source, if something is due.
    private func wake() {
        let tick = UInt64.tick(reachedBy: .uptime)
        // This call may last longer than the action, and the lane's closure lives while the lane has something to run. So
        // neither holds the first action itself.
        let call = state.withLock { state -> (first: Locked<TimerAction?>, lane: DispatchQueue)? in
            guard let (action, lane) = state.wake(at: tick) else { return nil }
            let first = Locked<TimerAction?>(action)
            return (first, lane)
        }
        guard let (first, lane) = call else { return }
        lane.async { self.work(first, on: lane) }
    }

    /// Runs an action, and what else is due.
    private func work(_ first: Locked<TimerAction?>, on lane: DispatchQueue) {
        var action = first.withLock { replace(&$0, with: nil) }
        while let running = replace(&action, with: nil) {
            running.run()
            let tick = UInt64.tick(reachedBy: .uptime)
            action = state.withLock { $0.next(by: tick, on: lane) }
        }
    }
}

private typealias Rota = TimerRota<TimerAction>

/// The action of a timer; a structure, because a generic container would wrap a bare function in another one.
private struct TimerAction: Sendable {
    let run: @Sendable () -> Void
}

private struct State {
    var rota: Rota
    let source: any DispatchSourceTimer
    private var idleLanes: [DispatchQueue] = []

    init(rota: Rota, source: any DispatchSourceTimer) {
        self.rota = rota
        self.source = source
    }

    /// Changes the rota, and sets the source to the wake-up that comes of it.
    mutating func change<Result>(_ body: (inout Rota) -> Result) -> Result {
        let before = rota.wakeUp
        let result = body(&rota)
        if rota.wakeUp != before { arm() }
        return result
    }

    /// The source has fired: returns an action and the lane to run it on, if something is due.
    mutating func wake(at tick: UInt64) -> (TimerAction, DispatchQueue)? {
        let action = rota.wake(at: tick)
        // Also for the same tick, if the source was early.
        if rota.wakeUp != Rota.never { arm() }
        guard let action else { return nil }
        return (action, idleLanes.popLast() ?? DispatchQueue(label: "LoaderChain.SystemTimers.Lane"))
    }

    /// The next action for a lane; nil if it has nothing more to run.
    mutating func next(by tick: UInt64, on lane: DispatchQueue) -> TimerAction? {
        let action = change { $0.next(by: tick) }
        if action == nil { idleLanes.append(lane) }
        return action
    }

    private func arm() {
        let isSet = rota.wakeUp != Rota.never
        source.schedule(
            deadline: isSet ? DispatchTime(uptimeNanoseconds: rota.wakeUp * nanosecondsPerTick) : .distantFuture)
    }
}

/// The timer of an action; the wheel alone holds the action.
private final class SystemTimer: ScheduledTimer {
    private let clockwork: Clockwork
    private let ticket: Rota.Ticket

    init(clockwork: Clockwork, ticket: Rota.Ticket) {
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
