/// When a clockwork wakes up, and how many threads run what is due, decided without threads and clocks.
///
/// Due actions are run by *workers*. The clockwork calls one when it wakes up; a worker runs one action after another, while
/// more are due. So quick actions run in order on one thread, and cost one call of a worker for all.
///
/// If something is still due a tick after the last call, the worker has an action that takes long. The clockwork then
/// calls another worker, and so on up to a limit. At the limit, actions wait until a worker has ended its own.
struct TimerRota<Action> {
    typealias Ticket = TimerWheel<Action>.Ticket

    /// The wake-up while none is set.
    static var never: UInt64 { .max }
    /// The longest time until a wake-up, a day: the system's clock has a smaller range than ours.
    static var longestRest: UInt64 { 24 * 60 * 60 * 1000 }
    /// The longest time for which a wake-up is kept although nothing waits for it; a minute, like most timeouts.
    static var longestIdleWakeUp: UInt64 { 60 * 1000 }

    private var wheel: TimerWheel<Action>
    /// The tick for which the clock has to be set.
    private(set) var wakeUp = Self.never
    private(set) var workers = 0
    /// The tick in which the last worker was called, or any before.
    private var lastCall: UInt64 = 0
    private let mostWorkers: Int

    init(present: UInt64, mostWorkers: Int) {
        wheel = TimerWheel(present: present)
        self.mostWorkers = mostWorkers
    }

    var count: Int { wheel.count }

    mutating func insert(_ action: Action, at tick: UInt64, present: UInt64) -> Ticket {
        wheel.catchUp(with: present)
        let ticket = wheel.insert(action, at: tick)
        wakeUpInTime()
        return ticket
    }

    /// Takes out an action that has not been handed to a worker yet.
    mutating func remove(_ ticket: Ticket) -> Action? {
        guard let action = wheel.remove(ticket) else { return nil }
        // A wake-up that has become too early does no harm, and saves setting another. It is cancelled only if nothing
        // waits, and if it is far away: requests that come one after the other, each with a timeout, would otherwise pay for
        // setting and cancelling it each time.
        if wheel.count == 0, wakeUp > wheel.present + Self.longestIdleWakeUp { wakeUp = Self.never }
        return action
    }

    /// Takes out all actions, when no more can be inserted.
    mutating func stop() -> TimerWheel<Action> {
        wakeUp = Self.never
        return replace(&wheel, with: TimerWheel(present: .max))
    }

    /// The clock has reached the wake-up; returns the action to call a worker with, nil if none is needed, or none may be called.
    mutating func wake(at tick: UInt64) -> Action? {
        wakeUp = Self.never
        guard workers < mostWorkers else { return nil }
        let action = wheel.advance(to: tick)
        if action != nil {
            workers += 1
            lastCall = tick
        }
        wakeUpInTime()
        return action
    }

    /// A worker has ended its action; returns the next one for it, or nil to end the worker.
    mutating func next(by tick: UInt64) -> Action? {
        if let action = wheel.advance(to: tick) { return action }
        workers -= 1
        // At the limit of workers, none is set.
        wakeUpInTime()
        return nil
    }

    /// Sets an earlier wake-up, if one is needed.
    private mutating func wakeUpInTime() {
        guard workers < mostWorkers, let expiry = wheel.nextExpiry else { return }
        // What is due now is left to the workers for a tick.
        let earliest = workers > 0 ? max(expiry, lastCall + 1) : expiry
        wakeUp = min(wakeUp, earliest, wheel.present + Self.longestRest)
    }
}
