import Dispatch

/// Which tasks of a throttle run and which wait, decided without threads, clocks or callbacks.
///
/// A task is counted as running in the same step in which it is decided that it may run. So the number that runs is never
/// above a limit that has not just been lowered, and a slot that is given to a waiter cannot be taken by a newcomer.
///
/// Every method changes the state and returns what there is to do. The owner does that after it has unlocked.
struct ThrottleState {
    /// How many tasks may run at once.
    var limit: UInt
    private let mostWaiting: Int
    private(set) var running: UInt = 0
    private(set) var waiting = 0

    private var lists = PerPriority(WaiterList())
    /// What takes the place of the lists once hosts are limited.
    private var hosts: HostQueues?
    private var turns: PriorityTurns
    private var lastTicket: UInt64 = 0
    private var era: UInt32 = 0
    private var resets: [Reset] = []

    init(limit: UInt, perHost: UInt? = nil, mostWaiting: Int = .max, patience: Int = PriorityTurns.patience) {
        self.limit = limit
        self.mostWaiting = mostWaiting
        self.perHost = perHost
        hosts = perHost.map(HostQueues.init)
        turns = PriorityTurns(patience: patience)
    }

    /// A reset that waits for the tasks that are older than itself.
    private struct Reset {
        let number: UInt64
        var left: UInt
        let group: DispatchGroup
    }

    /// What the end of a task leads to.
    struct End {
        /// The waiter that is now counted as running, and whose task is to be passed on.
        var next: WaiterList.Link?
        /// The resets that are finished with it, if any.
        var resets: [DispatchGroup]?
        /// Whether it was taken out of the lists.
        var wasWaiting = false

        /// Lets the waiter hold its throttle from now on; its own end may come on another thread at once.
        @inline(__always)
        func starts(in throttle: Throttle) {
            if let next { next._withUnsafeGuaranteedRef { $0.hold(throttle) } }
        }
    }

    // MARK: Arriving

    /// Lets a task run that need not be waited for, nor be told from others; answers whether it may.
    @inline(__always)
    mutating func start(_ number: UInt64) -> Bool {
        guard waiting == 0, running < limit, hosts == nil else { return false }
        occupy(number)
        return true
    }

    /// What becomes of a task that arrives.
    enum Arrival { case starts, waits, isRefused, isOver }

    /// Lets a task run or wait; if it waits, takes over the reference.
    @inline(__always)
    mutating func arrive(_ link: WaiterList.Link) -> Arrival {
        link._withUnsafeGuaranteedRef { arrive($0, link) }
    }

    @inline(__always)
    private mutating func arrive(_ waiter: ThrottleWaiter, _ link: WaiterList.Link) -> Arrival {
        guard waiter.place == .arriving else { return .isOver }
        if let hosts { return arrive(waiter, link, hosts) }
        guard waiting > 0 || running >= limit else { return start(waiter) }
        guard waiting < mostWaiting else { return refuse(waiter) }
        keep(waiter)
        lists.change(waiter.priority) { $0.append(link) }
        return .waits
    }

    private mutating func arrive(
        _ waiter: ThrottleWaiter, _ link: WaiterList.Link, _ hosts: HostQueues
    ) -> Arrival {
        let host = hosts.enter(waiter)
        let ready = hosts.ready
        // No waiter may be overtaken that could run.
        if running < limit, hosts.hasRoom(host), !ready.low, !ready.normal, !ready.high {
            hosts.start(at: host)
            return start(waiter)
        }
        guard waiting < mostWaiting else {
            hosts.forgetIfIdle(host)
            return refuse(waiter)
        }
        keep(waiter)
        hosts.append(link, waiter.priority, to: host)
        return .waits
    }

    private mutating func start(_ waiter: ThrottleWaiter) -> Arrival {
        waiter.place = .running
        occupy(waiter.number)
        return .starts
    }

    private func refuse(_ waiter: ThrottleWaiter) -> Arrival {
        waiter.place = .gone
        return .isRefused
    }

    @inline(__always)
    private mutating func keep(_ waiter: ThrottleWaiter) {
        lastTicket += 1
        waiter.ticket = lastTicket
        waiter.era = era
        waiter.place = .waiting
        waiting += 1
    }

    // MARK: Leaving

    /// Takes the waiter whose turn it is, if one may run, and counts it as running.
    ///
    /// To be asked until it answers nil after a limit has changed.
    @inline(__always)
    mutating func next() -> WaiterList.Link? {
        guard waiting > 0, running < limit, let link = takeFirst() else { return nil }
        waiting -= 1
        occupy(
            link._withUnsafeGuaranteedRef { waiter in
                waiter.place = .running
                return waiter.number
            })
        return link
    }

    @inline(__always)
    private mutating func takeFirst() -> WaiterList.Link? {
        if let hosts { return turns.next(hosts.ready).flatMap(hosts.takeFirst) }
        guard let priority = turns.next(lists.map { !$0.isEmpty }) else { return nil }
        return lists.change(priority) { $0.popFirst() }
    }

    /// Whether a waiter stands in a list.
    func isWaiting(_ waiter: ThrottleWaiter) -> Bool {
        waiter.place == .waiting && waiter.era == era
    }

    /// Takes out a waiter that no longer wants to run; answers whether it was waiting.
    ///
    /// One that is still arriving is turned away when it has.
    mutating func leave(_ waiter: ThrottleWaiter) -> Bool {
        if waiter.place == .arriving { waiter.place = .gone }
        guard isWaiting(waiter) else { return false }
        waiter.place = .gone
        waiting -= 1
        if let hosts { hosts.remove(waiter) } else { lists.change(waiter.priority) { $0.remove(waiter) } }
        return true
    }

    /// Takes out all waiters.
    mutating func removeAll() -> WaiterList {
        // By this they wait no longer, without a look at each of them.
        era &+= 1
        waiting = 0
        if let hosts { return hosts.removeAll() }
        var all = WaiterList()
        for priority in ThrottlePriority.allCases {
            all.append(contentsOf: lists.change(priority) { exchange(&$0, with: WaiterList()) })
        }
        return all
    }

    // MARK: Running

    @inline(__always)
    private mutating func occupy(_ number: UInt64) {
        running += 1
        if !resets.isEmpty { join(number) }
    }

    /// Counts the end of a task that started at once.
    @inline(__always)
    mutating func finish(_ number: UInt64) -> End {
        running -= 1
        return End(next: next(), resets: resets.isEmpty ? nil : part(number))
    }

    /// Counts the end of a waiter's task, wherever the waiter has got to.
    mutating func end(_ waiter: ThrottleWaiter) -> End {
        switch waiter.place {
        case .running:
            waiter.place = .gone
            hosts?.finish(waiter)
            return finish(waiter.number)
        case .waiting:
            return End(wasWaiting: leave(waiter))
        case .arriving:
            waiter.place = .gone
            return End()
        case .gone:
            return End()  // Its task was completed by whoever took it out.
        }
    }

    // MARK: Limits per host

    /// How many tasks of one host may run at once; nil for no limit.
    private(set) var perHost: UInt?

    /// Changes how many tasks of one host may run at once.
    ///
    /// Hosts are counted from the first limit on; it finds the waiters, but not the tasks that run already.
    mutating func setPerHost(_ perHost: UInt?) {
        self.perHost = perHost
        if let hosts {
            hosts.setLimit(perHost ?? .max)
        } else if let perHost {
            let hosts = HostQueues(limit: perHost)
            for priority in ThrottlePriority.allCases {
                while let link = lists.change(priority, { $0.popFirst() }) {
                    hosts.append(link, priority, to: link._withUnsafeGuaranteedRef(hosts.enter))
                }
            }
            self.hosts = hosts
        }
    }

    // MARK: Resetting

    /// Takes out all waiters, and remembers the reset until the tasks that run have ended.
    ///
    /// Tasks are numbered as they are made, so what runs has lower numbers than one that is drawn now. Newer tasks that run
    /// before the reset has finished do not hold it up.
    ///
    /// - Returns: the waiters, and whether the reset has nothing to wait for.
    mutating func reset(_ number: UInt64, _ group: DispatchGroup) -> (waiters: WaiterList, isFinished: Bool) {
        let isFinished = running == 0
        if !isFinished { resets.append(Reset(number: number, left: running, group: group)) }
        return (removeAll(), isFinished)
    }

    /// A task that was made before a reset and runs only now is one more to wait for.
    @inline(never)
    private mutating func join(_ number: UInt64) {
        for index in resets.indices where number < resets[index].number { resets[index].left += 1 }
    }

    @inline(never)
    private mutating func part(_ number: UInt64) -> [DispatchGroup] {
        for index in resets.indices where number < resets[index].number { resets[index].left -= 1 }
        let finished = resets.filter { $0.left == 0 }.map(\.group)
        if !finished.isEmpty { resets.removeAll { $0.left == 0 } }
        return finished
    }

    // MARK: Watching

    /// How many run and wait.
    var snapshot: Throttle.Snapshot {
        Throttle.Snapshot(
            total: Throttle.Snapshot.Counts(running: Int(clamping: running), waiting: waiting),
            hosts: hosts?.counts ?? [:])
    }
}
