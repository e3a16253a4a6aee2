/// The waiters of a throttle in their order, and how many tasks run at each host.
///
/// There is a queue for each priority. Once hosts are told apart, there is one for each priority and host. The hosts that
/// have room and waiters then stand in a heap for each priority, by their first waiter, so the first waiter that can run is
/// found without a look at those that cannot. A host that has nothing running and nothing waiting is forgotten.
struct ThrottleQueues<Waiter> {
    typealias Waiters = LinkedNodes<Waiter, Note>

    /// What decides about the turn of a waiter.
    struct Note {
        /// The number of its task.
        let number: UInt64
        /// When its task must have ended.
        let deadline: TimerInstant
        /// The index of its host, -1 until hosts are told apart, and its priority, in one number: with one field more, the
        /// compiler copies a node by a call, and waiting takes a sixth longer.
        private var lane: Int32

        fileprivate init(number: UInt64, priority: ThrottlePriority, deadline: TimerInstant, host: Int = -1) {
            self.number = number
            self.deadline = deadline
            let rank: Int32 =
                switch priority {
                case .low: 0
                case .normal: 1
                case .high: 2
                }
            lane = Int32(host) << 2 | rank
        }

        var priority: ThrottlePriority {
            @inline(__always) get { lane & 3 == 0 ? .low : lane & 3 == 1 ? .normal : .high }
        }

        fileprivate var host: Int {
            @inline(__always) get { Int(lane >> 2) }
            @inline(__always) set { lane = Int32(newValue) << 2 | lane & 3 }
        }
    }

    private struct Host {
        let origin: HTTPOrigin
        var turns: PriorityTurns
        /// How many tasks its adaptive limit lets run at once.
        var found: UInt
        var running: UInt = 0
        var waiting = 0
        var queues = PerPriority(QueueEnds())
        var usualTime = UsualTime()

        var isIdle: Bool { running == 0 && waiting == 0 }
        var isWaiting: PerPriority<Bool> { queues.map { !$0.isEmpty } }

        /// Changes one of the queues, and with it how many wait.
        mutating func change<Result>(
            _ priority: ThrottlePriority, by difference: Int, _ change: (inout QueueEnds) -> Result
        ) -> Result {
            waiting += difference
            return queues.change(priority, change)
        }
    }

    private var waiters = Waiters()
    /// The queues of those that are not told apart by their hosts.
    private var queues = PerPriority(QueueEnds())
    /// How many wait of each priority.
    private var counts = PerPriority(0)
    private var turns: PriorityTurns
    private let patience: PriorityTurns.Patience
    /// How long tasks take that are not told apart by their hosts.
    private var usualTime = UsualTime()
    /// How long tasks took at hosts that have none at the moment.
    private var usualTimes: [HTTPOrigin: UsualTime] = [:]

    /// Whether hosts are told apart.
    private(set) var tellsHostsApart: Bool
    private var limitPerHost: UInt
    private var hosts: [Host] = []
    private var freeHosts: [Int] = []
    private var indices: [HTTPOrigin: Int] = [:]
    private var ready = PerPriority(IndexedHeap())
    /// The adaptive limits of the hosts for which one was found, and that of all others.
    private var found: [HTTPOrigin: UInt] = [:]
    var foundForNew = UInt.max

    /// The places of waiters that may have to make room, the last ones at the end; some may have left.
    private var latest = PerPriority<[QueuePlace]>([])
    private let isBounded: Bool

    init(limitPerHost: UInt?, isBounded: Bool, patience: PriorityTurns.Patience) {
        self.limitPerHost = limitPerHost ?? .max
        tellsHostsApart = limitPerHost != nil
        self.isBounded = isBounded
        self.patience = patience
        turns = PriorityTurns(patience)
    }

    /// How many wait.
    var count: Int { waiters.count }

    /// Whether there is a waiter whose host has room.
    var canStart: Bool {
        tellsHostsApart ? !ready.low.isEmpty || !ready.normal.isEmpty || !ready.high.isEmpty : count > 0
    }

    /// Whether the waiter that came to a place is still there.
    func holds(_ place: QueuePlace) -> Bool { waiters.holds(place) }

    /// The tasks of each host.
    var snapshot: [String: Throttle.Snapshot.Counts] {
        var snapshot: [String: Throttle.Snapshot.Counts] = [:]
        for host in indices.values.map({ hosts[$0] }) {
            snapshot[host.origin.description] = Throttle.Snapshot.Counts(
                running: Int(clamping: host.running), waiting: host.waiting)
        }
        return snapshot
    }

    // MARK: Waiting

    /// Puts a waiter behind the others of its host and priority.
    @inline(__always)
    mutating func append(
        _ waiter: Waiter, number: UInt64, priority: ThrottlePriority, origin: HTTPOrigin?, deadline: TimerInstant
    ) -> QueuePlace {
        if counts[priority] == 0 { turns.forget(priority) }
        counts[priority] += 1
        let place: QueuePlace
        if tellsHostsApart {
            let host = index(of: origin ?? .unknown)
            let note = Note(number: number, priority: priority, deadline: deadline, host: host)
            place = append(waiter, note, to: host)
        } else {
            let note = Note(number: number, priority: priority, deadline: deadline)
            place = queues.change(priority) { waiters.append(waiter, note, to: &$0) }
        }
        if isBounded { remember(place, priority) }
        return place
    }

    /// A waiter whose turn it is, and who has left.
    struct Next {
        let waiter: Waiter
        let number: UInt64
        let host: Int?
        /// Whether its deadline leaves less time than its task usually takes; then it does not run.
        var isTooLate = false
    }

    /// Takes the waiter whose turn it is; nil if none could run.
    ///
    /// It is counted as running, unless it can no longer meet its deadline and another one could run.
    @inline(__always)
    mutating func takeNext(at now: TimerInstant) -> Next? {
        if tellsHostsApart { return takeNextOfHosts(at: now) }
        let waiting = counts.map { $0 > 0 }
        guard let priority = turns.turn(among: waiting, at: now),
            let (waiter, note) = queues.change(priority, { waiters.popFirst(of: &$0) })
        else { return nil }
        counts[priority] -= 1
        if count > 0, isTooLate(note.deadline, at: nil, now) {
            return Next(waiter: waiter, number: note.number, host: nil, isTooLate: true)
        }
        turns.count(priority, past: waiting, at: now)
        return Next(waiter: waiter, number: note.number, host: nil)
    }

    /// Takes out the waiter at a place; nil if it has left.
    mutating func remove(_ place: QueuePlace) -> Waiter? {
        guard let note = waiters.note(at: place) else { return nil }
        counts[note.priority] -= 1
        guard tellsHostsApart else { return queues.change(note.priority) { waiters.remove(place, from: &$0) } }
        let host = note.host
        let waiter = hosts[host].change(note.priority, by: -1) { waiters.remove(place, from: &$0) }
        update(host, note.priority)
        if hosts[host].isIdle { forget(host) }
        return waiter
    }

    /// Takes out all waiters, in no order yet.
    mutating func removeAll() -> Waiters {
        queues = PerPriority(QueueEnds())
        for host in Array(indices.values) where hosts[host].waiting > 0 {
            hosts[host].queues = PerPriority(QueueEnds())
            hosts[host].waiting = 0
            updateAll(host)
            if hosts[host].isIdle { forget(host) }
        }
        counts = PerPriority(0)
        latest = PerPriority([])
        return waiters.removeAll()
    }

    // MARK: Deadlines

    /// Whether a deadline leaves less time than the tasks for a server usually take.
    func isTooLate(_ deadline: TimerInstant, for origin: HTTPOrigin?, _ now: TimerInstant) -> Bool {
        guard tellsHostsApart else { return usualTime.exceeds(now.duration(to: deadline)) }
        let origin = origin ?? .unknown
        let time = indices[origin].map { hosts[$0].usualTime } ?? usualTimes[origin]
        return time?.exceeds(now.duration(to: deadline)) ?? false
    }

    @inline(__always)
    private func isTooLate(_ deadline: TimerInstant, at host: Int?, _ now: TimerInstant) -> Bool {
        deadline != .never && (host.map { hosts[$0].usualTime } ?? usualTime).exceeds(now.duration(to: deadline))
    }

    /// Learns how long a task took, or that it was ended before it was done.
    mutating func learn(_ time: Duration, at host: Int?, isDone: Bool) {
        func learn(_ usualTime: inout UsualTime) {
            if isDone { usualTime.learn(time) } else { usualTime.learn(unfinishedAfter: time) }
        }
        if let host { learn(&hosts[host].usualTime) } else { learn(&usualTime) }
    }

    // MARK: Making room

    /// Takes out the waiter with the least chance: the last of the lowest priority, if that is lower than `priority`.
    mutating func removeLast(below priority: ThrottlePriority) -> Waiter? {
        guard let lowest = ThrottlePriority.allCases.first(where: { counts[$0] > 0 }), lowest < priority else {
            return nil
        }
        while let place = latest.change(lowest, { $0.popLast() }) {
            if let waiter = remove(place) { return waiter }
        }
        return nil
    }

    /// Remembers a waiter that may have to make room, and now and then forgets those that have left.
    private mutating func remember(_ place: QueuePlace, _ priority: ThrottlePriority) {
        guard priority < .high else { return }
        let most = 2 * counts[priority] + 64
        latest.change(priority) { places in
            places.append(place)
            if places.count > most { places = places.filter(waiters.holds) }
        }
    }
}

// MARK: - Hosts

extension ThrottleQueues {
    /// Counts a task that runs without having waited, and returns the index of its host; nil if that has no room.
    mutating func start(at origin: HTTPOrigin) -> Int? {
        guard hasRoom(origin) else { return nil }
        let host = index(of: origin)
        occupy(host)
        return host
    }

    /// Counts the end of a task that ran.
    mutating func finish(at host: Int) {
        let hadRoom = hasRoom(host)
        hosts[host].running -= 1
        if hosts[host].isIdle { forget(host) } else if !hadRoom { updateAll(host) }
    }

    /// Changes how many tasks of one host may run at once; nil for no limit.
    ///
    /// Hosts are told apart from the first limit on. It finds the waiters, but not the tasks that run already.
    ///
    /// - Parameter origins: the servers of the ``untold``, in case they are to be told apart.
    mutating func setLimitPerHost(_ limit: UInt?, origins: [QueuePlace: HTTPOrigin]) {
        limitPerHost = limit ?? .max
        if limit != nil, !tellsHostsApart {
            tellsHostsApart = true
            for priority in ThrottlePriority.allCases { tellApart(priority, origins) }
        }
        for host in hosts.indices { updateAll(host) }
    }

    /// Changes how many tasks the adaptive limit of one server lets run at once.
    mutating func setFound(_ limit: UInt, for origin: HTTPOrigin) {
        found[origin] = limit
        guard let host = indices[origin] else { return }
        hosts[host].found = limit
        updateAll(host)
    }

    /// Forgets the adaptive limits of servers that are not used any more.
    mutating func forgetFound(for origins: [HTTPOrigin]) {
        for origin in origins {
            found[origin] = nil
            guard let host = indices[origin] else { continue }
            hosts[host].found = foundForNew
            updateAll(host)
        }
    }

    /// The waiters that are not told apart by their hosts, with their places.
    var untold: [(place: QueuePlace, waiter: Waiter)] {
        ThrottlePriority.allCases.flatMap { priority in
            waiters.places(in: queues[priority]).compactMap { place in waiters[place].map { (place, $0) } }
        }
    }

    private mutating func tellApart(_ priority: ThrottlePriority, _ origins: [QueuePlace: HTTPOrigin]) {
        let places = waiters.places(in: queues[priority])
        queues[priority] = QueueEnds()
        for place in places {
            guard var note = waiters.note(at: place) else { continue }
            let host = index(of: origins[place] ?? .unknown)
            note.host = host
            hosts[host].change(priority, by: 1) { waiters.append(place, note, to: &$0) }
        }
    }

    @inline(never)
    private mutating func append(_ waiter: Waiter, _ note: Note, to host: Int) -> QueuePlace {
        let priority = note.priority
        let isFirst = hosts[host].queues[priority].isEmpty
        if isFirst { hosts[host].turns.forget(priority) }
        let place = hosts[host].change(priority, by: 1) { waiters.append(waiter, note, to: &$0) }
        if isFirst { update(host, priority) }
        return place
    }

    /// Takes the first waiter of a priority among those that could run.
    ///
    /// Whether a priority has been passed over too often is asked twice: among all that could run, and among those that wait
    /// for the same host. The one keeps up the pace where slots are short for all, the other where they are short at one host.
    @inline(never)
    private mutating func takeNextOfHosts(at now: TimerInstant) -> Next? {
        let ready = self.ready.map { !$0.isEmpty }
        guard let chosen = turns.turn(among: ready, at: now), let host = self.ready[chosen].first else { return nil }
        let waiting = hosts[host].isWaiting
        let priority = hosts[host].turns.turn(insteadOf: chosen, among: waiting, at: now)
        guard let (waiter, note) = hosts[host].change(priority, by: -1, { waiters.popFirst(of: &$0) }) else {
            return nil
        }
        counts[priority] -= 1
        update(host, priority)
        if canStart, isTooLate(note.deadline, at: host, now) {
            if hosts[host].isIdle { forget(host) }
            return Next(waiter: waiter, number: note.number, host: host, isTooLate: true)
        }
        turns.count(priority, past: ready, at: now)
        hosts[host].turns.count(priority, past: waiting, at: now)
        occupy(host)
        return Next(waiter: waiter, number: note.number, host: host)
    }

    private mutating func occupy(_ host: Int) {
        hosts[host].running += 1
        if !hasRoom(host) { updateAll(host) }
    }

    private func hasRoom(_ host: Int) -> Bool { hosts[host].running < min(limitPerHost, hosts[host].found) }

    private func hasRoom(_ origin: HTTPOrigin) -> Bool {
        guard let host = indices[origin] else { return min(limitPerHost, found[origin] ?? foundForNew) > 0 }
        return hasRoom(host)
    }

    /// Puts a host into the heaps or takes it out of them, as room and waiters have it.
    private mutating func updateAll(_ host: Int) {
        update(host, .low)
        update(host, .normal)
        update(host, .high)
    }

    private mutating func update(_ host: Int, _ priority: ThrottlePriority) {
        let first = hasRoom(host) ? waiters.firstArrival(in: hosts[host].queues[priority]) : nil
        ready.change(priority) { $0.update(host, to: first) }
    }

    /// The index of a host, which is known from now on.
    private mutating func index(of origin: HTTPOrigin) -> Int {
        if let known = indices[origin] { return known }
        var host = Host(origin: origin, turns: PriorityTurns(patience), found: found[origin] ?? foundForNew)
        if !usualTimes.isEmpty, let time = usualTimes.removeValue(forKey: origin) { host.usualTime = time }
        let index = freeHosts.popLast() ?? hosts.count
        if index == hosts.count { hosts.append(host) } else { hosts[index] = host }
        indices[origin] = index
        return index
    }

    /// Forgets a host that has no task.
    private mutating func forget(_ host: Int) {
        // Many hosts that were called once do not leave their memory behind.
        let keptHosts = 64
        if !hosts[host].usualTime.isBlank {
            if usualTimes.count >= keptHosts { usualTimes = [:] }
            usualTimes[hosts[host].origin] = hosts[host].usualTime
        }
        indices[hosts[host].origin] = nil
        freeHosts.append(host)
        if indices.isEmpty, hosts.count > keptHosts {
            (hosts, freeHosts, indices, ready) = ([], [], [:], PerPriority(IndexedHeap()))
        }
    }
}
