/// The tasks of a throttle that run and that wait, decided without threads, clocks or callbacks: the time is an argument.
///
/// A task is counted as running in the same step in which it is decided that it may run. So the number that runs is never
/// above a limit that has not just been lowered, and a slot that is given to a waiter cannot be taken by a newcomer.
///
/// A waiter is any type that the owner chooses, and is returned to the owner when it leaves. Every method changes the state and
/// returns what the owner must do, which it does after it has unlocked.
struct ThrottleState<Waiter, Reset> {
    /// How many tasks the program lets run at once.
    var limit: UInt { didSet { allow(min(limit, found)) } }
    /// How many the adaptive limit lets run at once, if there is one.
    private var found = UInt.max
    private(set) var allowed: UInt
    private var free: UInt { running < allowed ? allowed - running : 0 }
    /// How many tasks of one host may run at once; nil for no limit.
    private(set) var limitPerHost: UInt?
    /// The limits of single hosts, which hold in its place.
    private(set) var hostLimits: [String: UInt] = [:]
    private(set) var running: UInt = 0
    /// How many may wait, in each partition.
    private(set) var mostWaiting: Int
    var queues: ThrottleQueues<Waiter>
    private var resets: [RunningReset] = []

    init(
        limit: UInt, perHost: UInt? = nil, partitions: [ThrottlePartition] = [], mostWaiting: Int = .max,
        patience: PriorityTurns.Patience = .init(), overload: ThrottleOverload? = nil, mayHasten: Bool = false
    ) {
        self.limit = limit
        allowed = limit
        self.mostWaiting = mostWaiting
        limitPerHost = perHost
        queues = ThrottleQueues(
            limitPerHost: perHost, isBounded: mostWaiting < .max, patience: patience,
            shares: ThrottleShares(partitions, slots: limit), overload: overload.map(ThrottleStrain.Rule.init),
            mayHasten: mayHasten)
    }

    var waiting: Int { queues.count }

    /// A reset that waits for the tasks that are older than itself.
    private struct RunningReset {
        let number: UInt64
        var left: UInt
        let reset: Reset
    }

    // MARK: Arriving

    /// Starts a task if it need not wait; returns its slot, or nil if it has to wait.
    @inline(__always)
    mutating func start(_ number: UInt64) -> ThrottleSlot? {
        // No waiter may be overtaken that could run.
        guard waiting == 0, running < allowed else { return nil }
        return occupy(ThrottleSlot(number: number, lane: nil))
    }

    mutating func start(_ number: UInt64, for origin: HTTPOrigin, in partition: Int = 0) -> ThrottleSlot? {
        guard running < allowed, let lane = queues.start(at: origin, in: partition, free: free) else { return nil }
        return occupy(ThrottleSlot(number: number, lane: lane))
    }

    enum Admission {
        case starts(ThrottleSlot)
        /// The task waits at a place; a displaced waiter has to leave.
        case waits(QueuePlace, displacing: Waiter?)
        /// The task waits at a place; another waiter has to leave because of an overload.
        case waitsInstead(QueuePlace, of: Waiter)
        /// The queue is full.
        case isRefused
        /// The queue is full because of an overload.
        case isShed
    }

    /// Lets a task run or wait; in a full queue, a task of a higher priority displaces the waiter with the least chance.
    @inline(__always)
    mutating func arrive(_ waiter: Waiter, _ arrival: ThrottleArrival) -> Admission {
        let (number, partition) = (arrival.number, arrival.partition)
        if let slot = arrival.origin.map({ start(number, for: $0, in: partition) }) ?? start(number) {
            queues.countStart(arrival.priority, in: slot.lane)
            return .starts(slot)
        }
        let shedding = queues.makeSpace(for: arrival)
        if case .ofNewcomer = shedding { return .isShed }
        var displaced: Waiter?
        // A waiter that was shed has left its place. Until a new limit is in force, there may be more waiters than it allows.
        if case .nothing = shedding, mostWaiting < .max, queues.waiting(in: partition) >= mostWaiting {
            displaced = queues.removeLast(below: arrival.priority, in: partition)
            if displaced == nil { return .isRefused }
        }
        let place = queues.append(waiter, arrival)
        if case .of(let other) = shedding { return .waitsInstead(place, of: other) }
        return .waits(place, displacing: displaced)
    }

    mutating func setMostWaiting(_ count: Int) {
        mostWaiting = count
        if count < .max { queues.becomeBounded() }
    }

    /// Takes out a waiter that no longer fits; call it until it returns nil after ``setMostWaiting(_:)``.
    mutating func displaced() -> Waiter? {
        for partition in 0..<queues.shares.count where queues.waiting(in: partition) > max(0, mostWaiting) {
            return queues.removeLast(below: nil, in: partition)
        }
        return nil
    }

    // MARK: Overload

    mutating func look(at now: TimerInstant) -> ThrottlePressure {
        queues.look(at: now, isPaused: allowed == 0, isIdle: running == 0 && waiting == 0)
    }

    // MARK: Leaving

    struct Turn {
        let waiter: Waiter
        /// The slot that it has now; nil if it leaves without running, because that is of no use to it any more.
        let slot: ThrottleSlot?
        /// Whether the task has waited longest of all, so that its end has to be noted.
        let isOldest: Bool
    }

    /// Takes the waiter whose turn it is, if it may run; call it until nil after a limit has changed, and after a waiter that was too late.
    @inline(__always)
    mutating func next(at now: TimerInstant) -> Turn? {
        guard waiting > 0, running < allowed, let next = queues.takeNext(at: now, free: free) else { return nil }
        let slot = next.isTooLate ? nil : occupy(ThrottleSlot(number: next.number, lane: next.lane))
        return Turn(waiter: next.waiter, slot: slot, isOldest: next.isOldest)
    }

    // MARK: Running

    @inline(__always)
    private mutating func occupy(_ slot: ThrottleSlot) -> ThrottleSlot {
        running += 1
        if !resets.isEmpty { join(slot.number) }
        return slot
    }

    struct End {
        /// The waiter that has the slot now, or that was too late for it.
        var next: Turn?
        /// The resets that are finished with it, if any.
        var resets: [Reset]?
        var isIdle: Bool
        /// Whether ``ThrottleState/next(at:)`` has to be called as well: a slot that a partition has kept for a waiter whose
        /// host was busy is free for others as soon as that waiter has another slot.
        var mayHaveMore: Bool
    }

    @inline(__always)
    mutating func finish(_ slot: ThrottleSlot, at now: TimerInstant) -> End {
        running -= 1
        if let lane = slot.lane { queues.finish(in: lane) }
        let next = next(at: now)
        return End(
            next: next, resets: resets.isEmpty ? nil : part(slot.number), isIdle: running == 0,
            mayHaveMore: !queues.shares.isWhole && waiting > 0)
    }

    /// - Parameter origins: the servers of the waiters that are not counted per host yet, by their places.
    mutating func setLimitPerHost(_ limit: UInt?, origins: [QueuePlace: HTTPOrigin]) {
        limitPerHost = limit
        queues.setLimitPerHost(limit, origins: origins)
    }

    mutating func setHostLimits(_ limits: [String: UInt], origins: [QueuePlace: HTTPOrigin]) {
        hostLimits = limits
        queues.setHostLimits(limits, origins: origins)
    }

    /// Changes how many tasks an adaptive limit lets run at once, in all or for one server.
    mutating func setFound(_ limit: UInt, for origin: HTTPOrigin?) {
        if let origin { return queues.setFound(limit, for: origin) }
        found = limit
        allow(min(self.limit, limit))
    }

    private mutating func allow(_ slots: UInt) {
        allowed = slots
        queues.share(slots)
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
        return (queues.removeAll(), isFinished)
    }

    mutating func giveUp(where isGivenUp: (Reset) -> Bool) -> [Reset] {
        resets.take { isGivenUp($0.reset) }.map(\.reset)
    }

    /// A task that was made before a reset and runs only now is one more to wait for.
    @inline(never)
    private mutating func join(_ number: UInt64) {
        for index in resets.indices where number < resets[index].number { resets[index].left += 1 }
    }

    @inline(never)
    private mutating func part(_ number: UInt64) -> [Reset] {
        for index in resets.indices where number < resets[index].number { resets[index].left -= 1 }
        return resets.take { $0.left == 0 }.map(\.reset)
    }

    // MARK: Watching

    var snapshot: Throttle.Snapshot {
        Throttle.Snapshot(
            total: Throttle.Snapshot.Counts(running: Int(clamping: running), waiting: waiting), hosts: queues.snapshot,
            partitions: queues.snapshotOfPartitions)
    }
}

/// The data of a task that arrives, by which its place and its turn are decided.
struct ThrottleArrival {
    /// The number of the task.
    let number: UInt64
    let priority: ThrottlePriority
    /// The server; nil while tasks are not counted per host.
    let origin: HTTPOrigin?
    var partition = 0
    /// The time after which a slot is of no use to it.
    var latestStart = TimerInstant.never
    /// When it came, which stands for the present: nothing else can have started in between.
    let instant: TimerInstant
}

/// The resources of a task that runs, to be returned at its end.
struct ThrottleSlot {
    /// The number of the task.
    let number: UInt64
    /// The number of the lane that the task is counted in; nil while tasks are not counted per host.
    let lane: Int?
}
