/// Which tasks of a throttle run and which wait, decided without threads, clocks or callbacks: the time is an argument.
///
/// A task is counted as running in the same step in which it is decided that it may run. So the number that runs is never
/// above a limit that has not just been lowered, and a slot that is given to a waiter cannot be taken by a newcomer.
///
/// A waiter is what the owner makes it, and comes back to the owner when it leaves. Every method changes the state and
/// returns what there is to do; the owner does that after it has unlocked.
struct ThrottleState<Waiter, Reset> {
    /// How many tasks the program lets run at once.
    var limit: UInt { didSet { allowed = min(limit, found) } }
    /// How many the adaptive limit lets run at once, if there is one.
    private var found = UInt.max
    /// How many tasks may run at once.
    private(set) var allowed: UInt
    /// How many tasks of one host may run at once; nil for no limit.
    private(set) var limitPerHost: UInt?
    private(set) var running: UInt = 0
    private let mostWaiting: Int
    var queues: ThrottleQueues<Waiter>
    private var resets: [RunningReset] = []

    init(limit: UInt, perHost: UInt? = nil, mostWaiting: Int = .max, patience: PriorityTurns.Patience = .init()) {
        self.limit = limit
        allowed = limit
        self.mostWaiting = mostWaiting
        limitPerHost = perHost
        queues = ThrottleQueues(limitPerHost: perHost, isBounded: mostWaiting < .max, patience: patience)
    }

    /// How many wait.
    var waiting: Int { queues.count }

    /// A reset that waits for the tasks that are older than itself.
    private struct RunningReset {
        let number: UInt64
        var left: UInt
        let reset: Reset
    }

    // MARK: Arriving

    /// Lets a task run that need not wait; returns its slot, or nil if it is to wait.
    @inline(__always)
    mutating func start(_ number: UInt64) -> ThrottleSlot? {
        // No waiter may be overtaken that could run.
        guard waiting == 0, running < allowed else { return nil }
        return occupy(ThrottleSlot(number: number, host: nil))
    }

    /// Lets a task for one server run that need not wait; returns its slot, or nil if it is to wait.
    mutating func start(_ number: UInt64, for origin: HTTPOrigin) -> ThrottleSlot? {
        guard running < allowed, !queues.canStart, let host = queues.start(at: origin) else { return nil }
        return occupy(ThrottleSlot(number: number, host: host))
    }

    /// What becomes of a task that arrives.
    enum Arrival {
        /// It runs.
        case starts(ThrottleSlot)
        /// It waits at a place; for another one, if there is one, there is no room any more.
        case waits(QueuePlace, displacing: Waiter?)
        /// There is no room to wait in.
        case isRefused
        /// Its deadline leaves less than the time that such tasks usually take.
        case isTooLate
    }

    /// Lets a task run or wait.
    ///
    /// In a full queue the waiter with the least chance makes room for one of higher priority.
    @inline(__always)
    mutating func arrive(
        _ waiter: Waiter, number: UInt64, priority: ThrottlePriority, for origin: HTTPOrigin?,
        until deadline: TimerInstant = .never, at now: TimerInstant
    ) -> Arrival {
        if let slot = origin.map({ start(number, for: $0) }) ?? start(number) { return .starts(slot) }
        if deadline != .never, queues.isTooLate(deadline, for: origin, now) { return .isTooLate }
        var displaced: Waiter?
        if waiting >= mostWaiting {
            displaced = queues.removeLast(below: priority)
            if displaced == nil { return .isRefused }
        }
        let place = queues.append(waiter, number: number, priority: priority, origin: origin, deadline: deadline)
        return .waits(place, displacing: displaced)
    }

    // MARK: Leaving

    /// A waiter whose turn it is.
    struct Turn {
        let waiter: Waiter
        /// The slot that it has now; nil if it leaves without running, because its deadline leaves less time than such tasks
        /// usually take.
        let slot: ThrottleSlot?
    }

    /// Takes the waiter whose turn it is, if one may run.
    ///
    /// To be asked until it answers nil after a limit has changed, and after a waiter that was too late.
    @inline(__always)
    mutating func next(at now: TimerInstant) -> Turn? {
        guard waiting > 0, running < allowed, let next = queues.takeNext(at: now) else { return nil }
        let slot = next.isTooLate ? nil : occupy(ThrottleSlot(number: next.number, host: next.host))
        return Turn(waiter: next.waiter, slot: slot)
    }

    /// Takes out the waiter at a place; nil if it waits no longer.
    mutating func leave(_ place: QueuePlace) -> Waiter? { queues.remove(place) }

    /// Takes out all waiters.
    ///
    /// Putting them in their order takes time in proportion to their number, and is left to the owner.
    mutating func removeAll() -> ThrottleQueues<Waiter>.Waiters { queues.removeAll() }

    // MARK: Running

    @inline(__always)
    private mutating func occupy(_ slot: ThrottleSlot) -> ThrottleSlot {
        running += 1
        if !resets.isEmpty { join(slot.number) }
        return slot
    }

    /// What the end of a task leads to.
    struct End {
        /// The waiter that has the slot now, or that was too late for it.
        var next: Turn?
        /// The resets that are finished with it, if any.
        var resets: [Reset]?
    }

    /// Counts the end of a task.
    @inline(__always)
    mutating func finish(_ slot: ThrottleSlot, at now: TimerInstant) -> End {
        running -= 1
        if let host = slot.host { queues.finish(at: host) }
        return End(next: next(at: now), resets: resets.isEmpty ? nil : part(slot.number))
    }

    /// Learns how long a task took, before its end is counted, or that it was ended before it was done.
    mutating func learn(_ time: Duration, of slot: ThrottleSlot, isDone: Bool) {
        queues.learn(time, at: slot.host, isDone: isDone)
    }

    /// Changes how many tasks of one host may run at once; nil for no limit.
    ///
    /// - Parameter origins: the servers of the waiters that are not told apart yet, by their places.
    mutating func setLimitPerHost(_ limit: UInt?, origins: [QueuePlace: HTTPOrigin]) {
        limitPerHost = limit
        queues.setLimitPerHost(limit, origins: origins)
    }

    /// Changes how many tasks an adaptive limit lets run at once, in all or for one server.
    mutating func setFound(_ limit: UInt, for origin: HTTPOrigin?) {
        if let origin { return queues.setFound(limit, for: origin) }
        found = limit
        allowed = min(self.limit, limit)
    }

    // MARK: Resetting

    /// Takes out all waiters, and remembers the reset until the tasks that run have ended.
    ///
    /// Tasks are numbered as they are made, so what runs has lower numbers than one that is drawn now. Newer tasks that run
    /// before the reset has finished do not hold it up.
    ///
    /// - Returns: the waiters, and whether the reset has nothing to wait for.
    mutating func reset(_ number: UInt64, _ reset: Reset) -> (waiters: ThrottleQueues<Waiter>.Waiters, isFinished: Bool)
    {
        let isFinished = running == 0
        if !isFinished { resets.append(RunningReset(number: number, left: running, reset: reset)) }
        return (removeAll(), isFinished)
    }

    /// A task that was made before a reset and runs only now is one more to wait for.
    @inline(never)
    private mutating func join(_ number: UInt64) {
        for index in resets.indices where number < resets[index].number { resets[index].left += 1 }
    }

    @inline(never)
    private mutating func part(_ number: UInt64) -> [Reset] {
        for index in resets.indices where number < resets[index].number { resets[index].left -= 1 }
        let finished = resets.filter { $0.left == 0 }.map(\.reset)
        if !finished.isEmpty { resets.removeAll { $0.left == 0 } }
        return finished
    }

    // MARK: Watching

    /// How many run and wait.
    var snapshot: Throttle.Snapshot {
        Throttle.Snapshot(
            total: Throttle.Snapshot.Counts(running: Int(clamping: running), waiting: waiting), hosts: queues.snapshot)
    }
}

/// What a task that runs takes up, and is to be given back at its end.
struct ThrottleSlot {
    /// The number of the task.
    let number: UInt64
    /// The number of the host that the task is counted for; nil while hosts are not told apart.
    let host: Int?
}
