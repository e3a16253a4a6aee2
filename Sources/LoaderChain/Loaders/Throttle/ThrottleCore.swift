import Dispatch
import Synchronization

/// The state of a throttle behind its lock, which the throttle shares with its waiters.
///
/// The state decides, and here the waiters' phases are changed in the same step: their tasks may be cancelled or completed on
/// another thread at any moment. Nothing else is done under the lock. It is an object so that a waiter counts one reference.
final class ThrottleCore: Sendable {
    typealias State = ThrottleState<ThrottleWaiter, DispatchGroup>

    private let state: Locked<State>
    private let timers: any Timers
    /// Whether the state depends on the time, as it does from the first deadline of a request on.
    private let readsClock: Atomic<Bool>
    private let timesArrivals: Atomic<Bool>
    private let kinds = Locked(RecentTable<RequestKind, ThrottleKind>(capacity: 1_024))
    private let onEvent: (@Sendable (Throttle.Event) -> Void)?

    init(
        _ state: State, timers: any Timers, readsClock: Bool, timesArrivals: Bool,
        onEvent: (@Sendable (Throttle.Event) -> Void)?
    ) {
        self.state = Locked(state)
        self.timers = timers
        self.readsClock = Atomic(readsClock)
        self.timesArrivals = Atomic(timesArrivals || onEvent != nil)
        self.onEvent = onEvent
    }

    /// The present, to be read before the lock is taken, as the clock may be a user's; any instant if nothing depends on it.
    private var now: TimerInstant {
        @inline(__always) get { readsClock.load(ordering: .relaxed) ? timers.now : TimerInstant(nanoseconds: 0) }
    }

    @inline(never)
    func deadline(_ deadline: Deadline, of request: HTTPRequest, isAdaptive: Bool) -> ThrottleDeadline {
        readClock()
        let now = timers.now
        let key = RequestKind(request)
        let kind = kinds.withLock { $0.value(of: key) { ThrottleKind() } }
        return ThrottleDeadline(deadline.instant(on: timers, at: now), arrival: now, kind, isAdaptive: isAdaptive)
    }

    /// Reads the clock from now on, because the waiting times of tasks matter.
    func readClock() {
        if !readsClock.load(ordering: .relaxed) { readsClock.store(true, ordering: .relaxed) }
    }

    /// The time of an arrival; `never` if it does not matter.
    var arrival: TimerInstant {
        @inline(__always) get { timesArrivals.load(ordering: .relaxed) ? timers.now : .never }
    }

    /// Reads the clock for every waiter from now on.
    func timeArrivals() { timesArrivals.store(true, ordering: .relaxed) }

    /// Reads or changes what no waiter's phase depends on.
    @inline(__always)
    func with<Result>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

    /// Changes something that needs the waiters to be counted per host; `change` gets their servers by their places.
    func countHosts(_ change: (inout State, [QueuePlace: HTTPOrigin]) -> Void) {
        let uncounted = with { $0.queues.uncounted.map { ($0.place, $0.waiter.waitingTask) } }
        // Requests are read outside the lock, because the last copy of a request may be released with it.
        let origins = uncounted.map { ($0, $1?.request.throttleOrigin ?? .unknown) }
        with { change(&$0, Dictionary(uniqueKeysWithValues: origins)) }
    }

    // MARK: Events

    /// Reports a waiter that has left its queue; under no lock, and before its end.
    @inline(__always)
    func report(_ kind: @autoclosure () -> Throttle.Event.Kind, of waiter: ThrottleWaiter, usualTime: Duration? = nil) {
        if onEvent != nil, let task = waiter.waitingTask { report(kind(), of: waiter, task, usualTime) }
    }

    /// Reports a waiter that has just come, with the caller's task: the waiter's belongs to whatever takes it out of its queue.
    @inline(__always)
    func reportQueued(_ waiter: ThrottleWaiter, _ task: HTTPTask) {
        if onEvent != nil { report(.queued, of: waiter, task) }
    }

    @inline(never)
    private func report(
        _ kind: Throttle.Event.Kind, of waiter: ThrottleWaiter, _ task: HTTPTask, _ usualTime: Duration? = nil
    ) {
        onEvent?(Throttle.Event(kind, of: task.request, waited: waited(waiter), usualTime: usualTime))
    }

    /// Reports a task that was not let in.
    func report(_ kind: Throttle.Event.Kind, of request: HTTPRequest) {
        onEvent?(Throttle.Event(kind, of: request, waited: nil, usualTime: nil))
    }

    func report(_ pressure: ThrottlePressure) { onEvent?(Throttle.Event(pressure)) }

    @inline(__always)
    func reportIdle() {
        if let onEvent { onEvent(.idle) }
    }

    /// How long a waiter has waited; nil if that is not known.
    func waited(_ waiter: ThrottleWaiter) -> Duration? {
        waiter.arrival == .never ? nil : max(.zero, waiter.arrival.duration(to: timers.now))
    }

    /// Lets a waiter wait, or run if there is a slot by now; nil if its task has ended meanwhile, or is about to.
    @inline(__always)
    func arrive(_ waiter: ThrottleWaiter, _ arrival: ThrottleArrival, in throttle: Throttle) -> State.Admission? {
        state.withLock { state in
            guard case .arrives = waiter.phase else { return nil }
            let admission = state.arrive(waiter, arrival)
            switch admission {
            case .starts(let slot):
                waiter.run(slot, at: arrival.instant, isOldest: false, in: throttle)
            case .waits(let place, let displaced):
                waiter.phase = .waits(place)
                displaced?.phase = .isOver
            case .waitsInstead(let place, let other):
                waiter.phase = .waits(place)
                other.phase = .isOver
            case .isRefused, .isShed:
                waiter.phase = .isOver
            }
            return admission
        }
    }

    func displaced() -> ThrottleWaiter? { takeOut { $0.displaced() } }

    func look() -> ThrottlePressure {
        let now = timers.now
        return state.withLock { $0.look(at: now) }
    }

    func surplus() -> ThrottleWaiter? { takeOut { $0.queues.takeSurplus() } }

    private func takeOut(_ choose: (inout State) -> ThrottleWaiter?) -> ThrottleWaiter? {
        state.withLock { state in
            let waiter = choose(&state)
            waiter?.phase = .isOver
            return waiter
        }
    }

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
            turn.waiter.run(slot, at: now, isOldest: turn.isOldest, in: throttle)
        } else {
            turn.waiter.phase = .isOver
        }
    }

    /// Counts the end of a task, and gives its slot to the next.
    @inline(__always)
    func finish(_ slot: ThrottleSlot, in throttle: Throttle) -> State.End {
        let now = now
        return state.withLock { finish(slot, &$0, at: now, in: throttle) }
    }

    @inline(__always)
    private func finish(
        _ slot: ThrottleSlot, _ state: inout State, at now: TimerInstant, in throttle: Throttle
    ) -> State.End {
        let end = state.finish(slot, at: now)
        if let next = end.next { note(next, at: now, in: throttle) }
        return end
    }

    enum Ending {
        /// The task ran, and gave its slot back.
        case ran(State.End, in: Throttle, at: TimerInstant)
        /// The task was waiting, and has left the queue.
        case waited
        /// There is nothing to do, now or yet.
        case isNothing
    }

    /// Counts the end of a waiter's task, in whatever phase it is; `isGivenUp` if the caller has left.
    @inline(__always)
    func end(_ waiter: ThrottleWaiter, isGivenUp: Bool) -> Ending {
        let now = now
        return state.withLock { state in
            guard case .runs(let slot) = waiter.phase, let throttle = replace(&waiter.throttle, with: nil) else {
                return remove(waiter, &state) ? .waited : .isNothing
            }
            waiter.phase = .isOver
            if waiter.isOldest, let start = waiter.start {
                state.queues.noteEnd(
                    in: slot.lane, isGivenUp: isGivenUp, cameAt: waiter.arrival, startedAt: start, at: now)
            }
            return .ran(finish(slot, &state, at: now, in: throttle), in: throttle, at: now)
        }
    }

    /// Takes out a waiter, and answers whether it was waiting; a waiter that is still arriving is refused when it has arrived.
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
            return state.queues.remove(place) != nil
        case .runs, .isOver:
            return false
        }
    }

    /// Gives a waiter the timer that ends its wait, and returns the timer that is no longer needed.
    func keep(_ timer: (any ScheduledTimer)?, for waiter: ThrottleWaiter) -> (any ScheduledTimer)? {
        state.withLock { state in
            guard case .waits(let place) = waiter.phase, state.queues.holds(place) else { return timer }
            return replace(&waiter.timer, with: timer)
        }
    }
}
