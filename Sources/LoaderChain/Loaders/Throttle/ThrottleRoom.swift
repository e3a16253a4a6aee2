import Dispatch
import Synchronization

/// The state of a throttle behind its lock, which the throttle shares with its waiters.
///
/// The state decides, and here the waiters' phases are changed in the same step: their tasks may be cancelled or completed on
/// another thread at any moment. Nothing else is done under the lock. It is an object so that a waiter counts one reference.
final class ThrottleRoom: Sendable {
    typealias State = ThrottleState<ThrottleWaiter, DispatchGroup>

    private let state: Locked<State>
    private let timers: any Timers
    /// Whether the state depends on the time, as it does from the first deadline on.
    private let tellsTime: Atomic<Bool>

    init(_ state: State, timers: any Timers, tellsTime: Bool) {
        self.state = Locked(state)
        self.timers = timers
        self.tellsTime = Atomic(tellsTime)
    }

    /// The present, to be read before the lock is taken, as the clock may be a user's; any instant if nothing depends on it.
    private var now: TimerInstant {
        @inline(__always) get { tellsTime.load(ordering: .relaxed) ? timers.now : TimerInstant(nanoseconds: 0) }
    }

    /// The limits of a task that has a deadline.
    @inline(never)
    func limits(until deadline: Deadline) -> ThrottleLimits {
        if !tellsTime.load(ordering: .relaxed) { tellsTime.store(true, ordering: .relaxed) }
        let now = timers.now
        return ThrottleLimits(arrival: now, deadline: deadline.instant(on: timers, at: now))
    }

    /// Reads or changes what no waiter's phase depends on.
    @inline(__always)
    func with<Result>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

    /// Changes how many tasks of one host may run at once; nil for no limit.
    func setLimitPerHost(_ limit: UInt?) {
        let untold = limit == nil ? [] : with { $0.queues.untold.map { ($0.place, $0.waiter.waitingTask) } }
        // Requests are read outside the lock: the last copy of one may be let go of with it.
        let origins = untold.map { ($0, $1?.request.origin ?? .unknown) }
        with { $0.setLimitPerHost(limit, origins: Dictionary(uniqueKeysWithValues: origins)) }
    }

    /// Lets a waiter wait, or run if there is a slot by now; nil if its task has ended meanwhile, or is to.
    @inline(__always)
    func arrive(
        _ waiter: ThrottleWaiter, number: UInt64, priority: ThrottlePriority, for origin: HTTPOrigin?,
        in throttle: Throttle
    ) -> State.Arrival? {
        // Nothing else can have started between its arrival and the present.
        let (deadline, now) = waiter.isLimited ? instants(of: waiter) : (.never, .never)
        return state.withLock { state in
            guard case .arrives = waiter.phase else { return nil }
            let arrival = state.arrive(
                waiter, number: number, priority: priority, for: origin, until: deadline, at: now)
            switch arrival {
            case .starts(let slot):
                waiter.run(slot, at: now, in: throttle)
            case .waits(let place, let displaced):
                waiter.phase = .waits(place)
                displaced?.phase = .isOver
            case .isRefused, .isTooLate:
                waiter.phase = .isOver
            }
            return arrival
        }
    }

    @inline(never)
    private func instants(of waiter: ThrottleWaiter) -> (deadline: TimerInstant, now: TimerInstant) {
        waiter.limits.map { ($0.deadline, $0.arrival) } ?? (.never, .never)
    }

    /// Takes the waiter whose turn it is, if one may run.
    func next(in throttle: Throttle) -> State.Turn? {
        let now = now
        return state.withLock { state in
            let turn = state.next(at: now)
            if let turn { note(turn, at: now, in: throttle) }
            return turn
        }
    }

    @inline(__always)
    private func note(_ turn: State.Turn, at now: TimerInstant, in throttle: Throttle) {
        if let slot = turn.slot {
            turn.waiter.run(slot, at: now, in: throttle)
        } else {
            turn.waiter.phase = .isOver
        }
    }

    /// Why a waiter that was too late got no slot.
    func refusal(of waiter: ThrottleWaiter) -> String? { waiter.limits?.refusal(at: timers.now) }

    /// Counts the end of a task, and gives its slot to the next.
    @inline(__always)
    func finish(_ slot: ThrottleSlot, in throttle: Throttle) -> State.End {
        let now = now
        return state.withLock { finish(slot, &$0, at: now, in: throttle) }
    }

    /// Learns how long a task took that is about to end.
    func learn(from run: ThrottleRun, in slot: ThrottleSlot) {
        let now = timers.now
        state.withLock { $0.learn(run.start.duration(to: now), of: slot, isDone: run.isDone) }
    }

    @inline(__always)
    private func finish(
        _ slot: ThrottleSlot, _ state: inout State, at now: TimerInstant, in throttle: Throttle
    ) -> State.End {
        let end = state.finish(slot, at: now)
        if let next = end.next { note(next, at: now, in: throttle) }
        return end
    }

    /// What the end of a waiter's task leads to.
    enum Ending {
        /// It ran, and gave its slot back.
        case ran(State.End, in: Throttle)
        /// It was waiting, and has left the queue.
        case waited
        /// There is nothing to do, now or yet.
        case isNothing
    }

    /// Counts the end of a waiter's task, wherever that has got to.
    @inline(__always)
    func end(_ waiter: ThrottleWaiter, with result: HTTPResult) -> Ending {
        let now = now
        let isDone = waiter.isLimited ? result.isDone : nil
        return state.withLock { state in
            guard case .runs(let slot) = waiter.phase, let throttle = replace(&waiter.throttle, with: nil) else {
                return remove(waiter, &state) ? .waited : .isNothing
            }
            waiter.phase = .isOver
            if let isDone { learn(from: waiter, in: slot, isDone: isDone, &state, at: now) }
            return .ran(finish(slot, &state, at: now, in: throttle), in: throttle)
        }
    }

    @inline(never)
    private func learn(
        from waiter: ThrottleWaiter, in slot: ThrottleSlot, isDone: Bool, _ state: inout State, at now: TimerInstant
    ) {
        if let start = waiter.limits?.start { state.learn(start.duration(to: now), of: slot, isDone: isDone) }
    }

    /// Takes out a waiter, and answers whether it was waiting.
    ///
    /// One that is still arriving is turned away when it has arrived.
    func remove(_ waiter: ThrottleWaiter) -> Bool {
        state.withLock { remove(waiter, &$0) }
    }

    @inline(__always)
    private func remove(_ waiter: ThrottleWaiter, _ state: inout State) -> Bool {
        switch waiter.phase {
        case .arrives:
            waiter.phase = .isOver
            return false
        case .waits(let place):
            waiter.phase = .isOver
            // All may have been taken out together.
            return state.leave(place) != nil
        case .runs, .isOver:
            return false
        }
    }

    /// Lets a waiter keep the timer that ends its wait; false if it no longer waits.
    func keep(_ timer: any ScheduledTimer, for waiter: ThrottleWaiter) -> Bool {
        state.withLock { state in
            guard case .waits(let place) = waiter.phase, state.queues.holds(place) else { return false }
            waiter.limits?.timer = timer
            return true
        }
    }
}
