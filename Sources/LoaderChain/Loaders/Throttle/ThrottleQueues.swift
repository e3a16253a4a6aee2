/// The waiters of a throttle in their order, and how many tasks run at each host.
///
/// There is a queue for each priority. Once tasks are counted per host, there is a lane for each host and partition, with a
/// queue for each priority. The hosts that have free slots and waiters then stand in a heap for each partition and priority, by
/// their first waiter, so the first waiter that can run is found without a look at those that cannot. A host with nothing
/// running and nothing waiting is forgotten.
///
/// The file is long so that nothing outside of it can change one of these counts, queues and heaps without the others.
struct ThrottleQueues<Waiter> {
    typealias Waiters = LinkedNodes<Waiter, Note>

    /// The data that decides about the turn of a waiter.
    struct Note {
        /// The number of its task.
        let number: UInt64
        /// The time after which a slot is of no use to it.
        let latestStart: TimerInstant
        /// The index of its lane, -1 until tasks are counted per host, then its arrival, and its priority, in one number: with
        /// one field more, the compiler copies a node by a call, and waiting takes a sixth longer.
        private var bits: Int64

        fileprivate init(_ arrival: ThrottleArrival, lane: Int = -1) {
            number = arrival.number
            latestStart = arrival.latestStart
            let rank: Int64 =
                switch arrival.priority {
                case .low: 0
                case .normal: 1
                case .high: 2
                }
            bits = Int64(lane) << 34 | Int64(ThrottleAge.mark(of: arrival.instant)) << 2 | rank
        }

        var priority: ThrottlePriority {
            @inline(__always) get { bits & 3 == 0 ? .low : bits & 3 == 1 ? .normal : .high }
        }

        fileprivate var lane: Int {
            @inline(__always) get { Int(bits >> 34) }
            @inline(__always) set { bits = Int64(newValue) << 34 | bits & (1 << 34 - 1) }
        }

        /// How long it has waited, if its arrival was noted.
        fileprivate func age(at now: TimerInstant) -> ThrottleAge {
            ThrottleAge(since: UInt32(truncatingIfNeeded: bits >> 2), at: now)
        }
    }

    private struct Host {
        let origin: HTTPOrigin
        /// How many tasks the program lets run at once, and how many its adaptive limit does.
        var limit: UInt
        var found: UInt
        var running: UInt = 0
        var waiting = 0

        var isIdle: Bool { running == 0 && waiting == 0 }
        var hasFreeSlots: Bool { running < min(limit, found) }
        var free: UInt { hasFreeSlots ? min(limit, found) - running : 0 }
    }

    /// The waiters for one host in one partition.
    private struct Lane {
        var turns: PriorityTurns
        var queues = PerPriority(QueueEnds())
        /// How many wait of each priority.
        var counts = PerPriority(0)
        var strain = ThrottleStrain()
        var haste = ThrottleHaste()

        var isWaiting: PerPriority<Bool> { queues.map { !$0.isEmpty } }
    }

    /// The common data of the lanes of one partition.
    private struct Partition {
        /// The hosts that have free slots and a waiter of the partition.
        var ready = PerPriority(IndexedHeap())
        /// The number of waiters of each priority; kept only if there are several partitions.
        var counts = PerPriority(0)
        /// The places of waiters that may be displaced, the newest at the end; some may have left.
        var latest = PerPriority<[QueuePlace]>([])

        var isReady: Bool { !ready.low.isEmpty || !ready.normal.isEmpty || !ready.high.isEmpty }
    }

    private var waiters = Waiters()
    /// The queues of the waiters that are not counted per host.
    private var queues = PerPriority(QueueEnds())
    /// How many wait of each priority.
    private var counts = PerPriority(0)
    private var turns: PriorityTurns
    private let patience: PriorityTurns.Patience

    private(set) var countsHosts: Bool
    private var limitPerHost: UInt
    private var hostLimits: [String: UInt] = [:]
    private var hosts: [Host] = []
    private var freeHosts: [Int] = []
    private var indices: [HTTPOrigin: Int] = [:]
    /// The lanes of each host, one behind the other by their partitions.
    private var lanes: [Lane] = []
    private var partitions: [Partition]
    /// How many times hosts stand in the heaps of the partitions.
    private var readyCount = 0
    private(set) var shares: ThrottleShares
    /// The adaptive limits of the hosts for which one was found, and that of all others.
    private var found: [HTTPOrigin: UInt] = [:]
    var foundForNew = UInt.max

    /// Whether waiters may be displaced.
    private(set) var isBounded: Bool

    /// Whether too many of those that are not counted per host wait.
    private var strain = ThrottleStrain()
    /// Whether the newest of them goes first.
    private var haste = ThrottleHaste()
    /// Whether the newest may ever go first, for which the time must be known.
    private let mayHasten: Bool
    private let overload: ThrottleStrain.Rule?
    /// The lanes of which some waiters may have to leave.
    private var strainedLanes: [Int] = []

    init(
        limitPerHost: UInt?, isBounded: Bool, patience: PriorityTurns.Patience, shares: ThrottleShares = .init(),
        overload: ThrottleStrain.Rule? = nil, mayHasten: Bool = false
    ) {
        self.overload = overload
        self.mayHasten = mayHasten
        self.limitPerHost = limitPerHost ?? .max
        countsHosts = limitPerHost != nil || !shares.isWhole
        self.isBounded = isBounded
        self.patience = patience
        self.shares = shares
        partitions = Array(repeating: Partition(), count: shares.count)
        turns = PriorityTurns(patience)
    }

    var count: Int { waiters.count }

    func canStart(_ free: UInt) -> Bool {
        guard countsHosts else { return count > 0 }
        guard readyCount > 0 else { return false }
        if shares.isWhole { return true }
        return partitions.indices.contains { partitions[$0].isReady && shares.mayStart($0, free: free) }
    }

    func holds(_ place: QueuePlace) -> Bool { waiters.holds(place) }

    var inOrder: [Waiter] { waiters.inOrder }

    /// The tasks of each host.
    var snapshot: [String: Throttle.Snapshot.Counts] {
        var snapshot: [String: Throttle.Snapshot.Counts] = [:]
        for host in indices.values.map({ hosts[$0] }) {
            // A key may be spelled like a host.
            let counts = Throttle.Snapshot.Counts(running: Int(clamping: host.running), waiting: host.waiting)
            snapshot[host.origin.description, default: .init()].add(counts)
        }
        return snapshot
    }

    /// The tasks of each partition that has a name.
    var snapshotOfPartitions: [String: Throttle.Snapshot.Counts] {
        shares.snapshot { waiting(in: $0) }
    }

    func waiting(in partition: Int) -> Int {
        guard !shares.isWhole else { return count }
        let counts = partitions[partition].counts
        return counts.low + counts.normal + counts.high
    }

    // MARK: Waiting

    /// Puts a waiter behind the others of its host, partition and priority.
    @inline(__always)
    mutating func append(_ waiter: Waiter, _ arrival: ThrottleArrival) -> QueuePlace {
        let (priority, partition) = (arrival.priority, arrival.partition)
        if counts[priority] == 0 { turns.forget(priority) }
        counts[priority] += 1
        let place: QueuePlace
        if countsHosts {
            let lane = lane(of: index(of: arrival.origin ?? .unknown), partition)
            place = append(waiter, Note(arrival, lane: lane), to: lane)
        } else {
            let note = Note(arrival)
            place = queues.change(priority) { waiters.append(waiter, note, to: &$0) }
        }
        if isBounded { remember(place, priority, in: partition) }
        return place
    }

    /// A waiter whose turn it is, and who has left.
    struct Next {
        let waiter: Waiter
        let number: UInt64
        let lane: Int?
        /// Whether it has waited longest of all, so that its end has to be noted.
        var isOldest = false
        /// Whether a slot is of no use to it any more; then it does not run.
        var isTooLate = false
    }

    /// Takes the waiter whose turn it is; nil if none may start with `free` slots.
    ///
    /// The waiter is counted as running, unless the slot is of no use to it and others could use all free slots.
    @inline(__always)
    mutating func takeNext(at now: TimerInstant, free: UInt) -> Next? {
        if countsHosts { return takeNextOfHosts(at: now, free: free) }
        let waiting = counts.map { $0 > 0 }
        guard let priority = turns.turn(among: waiting, at: now) else { return nil }
        let takesNewest = haste.isOn && haste.takesNewest(of: priority)
        guard let (waiter, note) = queues.change(priority, { waiters.pop(newest: takesNewest, of: &$0) }) else {
            return nil
        }
        counts[priority] -= 1
        if note.latestStart < now, count >= free {
            return Next(waiter: waiter, number: note.number, lane: nil, isTooLate: true)
        }
        turns.count(priority, past: waiting, at: now)
        if overload != nil { strain.count(priority) }
        let isOldest = mayHasten && (!takesNewest || queues[priority].isEmpty)
        return Next(waiter: waiter, number: note.number, lane: nil, isOldest: isOldest)
    }

    /// Notes the end of a task that had waited longest of all when it got its slot.
    @inline(never)
    mutating func noteEnd(
        in lane: Int?, isGivenUp: Bool, cameAt arrival: TimerInstant, startedAt start: TimerInstant,
        at now: TimerInstant
    ) {
        if let lane {
            lanes[lane].haste.note(isGivenUp: isGivenUp, cameAt: arrival, startedAt: start, at: now)
        } else {
            haste.note(isGivenUp: isGivenUp, cameAt: arrival, startedAt: start, at: now)
        }
    }

    /// Takes out the waiter at a place; nil if it has left.
    mutating func remove(_ place: QueuePlace) -> Waiter? {
        guard let note = waiters.note(at: place) else { return nil }
        counts[note.priority] -= 1
        guard countsHosts else { return queues.change(note.priority) { waiters.remove(place, from: &$0) } }
        let (lane, priority) = (note.lane, note.priority)
        let waiter = lanes[lane].queues.change(priority) { waiters.remove(place, from: &$0) }
        hasLeft(lane, priority)
        if hosts[host(of: lane)].isIdle { forget(host(of: lane)) }
        return waiter
    }

    /// Takes out all waiters, in no order yet.
    mutating func removeAll() -> Waiters {
        queues = PerPriority(QueueEnds())
        for host in Array(indices.values) where hosts[host].waiting > 0 {
            for lane in lanes(of: host) {
                lanes[lane].queues = PerPriority(QueueEnds())
                lanes[lane].counts = PerPriority(0)
            }
            hosts[host].waiting = 0
            updateAll(host)
            if hosts[host].isIdle { forget(host) }
        }
        counts = PerPriority(0)
        for partition in partitions.indices {
            partitions[partition].counts = PerPriority(0)
            partitions[partition].latest = PerPriority([])
        }
        return waiters.removeAll()
    }

    // MARK: Displacing

    /// Takes out the waiter of a partition with the least chance: the last of the lowest priority, if that is lower than
    /// `priority` or none is given.
    mutating func removeLast(below priority: ThrottlePriority?, in partition: Int) -> Waiter? {
        let counts = counts(of: partition)
        guard let lowest = ThrottlePriority.allCases.first(where: { counts[$0] > 0 }),
            priority.map({ lowest < $0 }) ?? true
        else { return nil }
        while let place = partitions[partition].latest.change(lowest, { $0.popLast() }) {
            guard let note = waiters.note(at: place) else { continue }
            let lane = note.lane < 0 ? nil : note.lane
            guard isHasty(lane) else { return remove(place) }
            // Another waiter has the least chance there.
            partitions[partition].latest.change(lowest) { $0.append(place) }
            defer { if let lane, hosts[host(of: lane)].isIdle { forget(host(of: lane)) } }
            return removeLast(of: lowest, in: lane)
        }
        return nil
    }

    /// Remembers from now on which waiters may be displaced.
    mutating func becomeBounded() {
        guard !isBounded else { return }
        isBounded = true
        for (place, note) in waiters.placesInOrder {
            remember(place, note.priority, in: note.lane < 0 ? 0 : note.lane % shares.count)
        }
    }

    /// Remembers a waiter that may be displaced, and now and then forgets those that have left.
    private mutating func remember(_ place: QueuePlace, _ priority: ThrottlePriority, in partition: Int) {
        let most = 2 * counts(of: partition)[priority] + 64
        partitions[partition].latest.change(priority) { places in
            places.append(place)
            if places.count > most { places = places.filter(waiters.holds) }
        }
    }

    private func counts(of partition: Int) -> PerPriority<Int> {
        shares.isWhole ? counts : partitions[partition].counts
    }
}

// MARK: - Overload

extension ThrottleQueues {
    /// What happens to a new task, or to a waiter in its place, because of an overload.
    enum Shedding {
        /// The new task may wait.
        case nothing
        /// The new task may not wait.
        case ofNewcomer
        /// Another waiter had to leave.
        case of(Waiter)
    }

    /// Makes space for a new task if too many wait by the rule for an overload.
    mutating func makeSpace(for arrival: ThrottleArrival) -> Shedding {
        guard overload != nil else { return .nothing }
        let priority = arrival.priority
        var lane: Int?
        if countsHosts {
            guard let host = indices[arrival.origin ?? .unknown] else { return .nothing }
            lane = self.lane(of: host, arrival.partition)
        }
        let (counts, strain) = load(of: lane)
        guard counts[priority] >= strain.most[priority] else { return .nothing }
        guard let lowest = ThrottlePriority.allCases.first(where: { counts[$0] > 0 && $0 < priority }) else {
            return .ofNewcomer
        }
        return removeLast(of: lowest, in: lane).map(Shedding.of) ?? .nothing
    }

    /// Counts a task that was passed on without having waited.
    mutating func countStart(_ priority: ThrottlePriority, in lane: Int?) {
        guard overload != nil else { return }
        if let lane { lanes[lane].strain.count(priority) } else { strain.count(priority) }
    }

    /// Looks at the waits; returns the highest pressure.
    ///
    /// If `isPaused`, nothing may run. A pause is not an overload, and the same goes for a queue of a host with the limit 0.
    mutating func look(at now: TimerInstant, isPaused: Bool, isIdle: Bool) -> ThrottlePressure {
        guard let overload else { return .none }
        strainedLanes = []
        guard countsHosts else {
            let waits = queues.map { waiters.firstNote(in: $0)?.age(at: now) }
            if isPaused || isIdle { strain = ThrottleStrain() } else { strain.look(at: waits, by: overload) }
            return strain.pressure
        }
        var highest = ThrottlePressure.none
        for host in indices.values {
            for lane in lanes(of: host) {
                let waits = lanes[lane].queues.map { waiters.firstNote(in: $0)?.age(at: now) }
                let isPaused = isPaused || min(hosts[host].limit, hosts[host].found) == 0
                if isPaused {
                    lanes[lane].strain = ThrottleStrain()
                } else {
                    lanes[lane].strain.look(at: waits, by: overload)
                }
                let pressure = lanes[lane].strain.pressure
                if pressure > .none { strainedLanes.append(lane) }
                highest = max(highest, pressure)
            }
        }
        return highest
    }

    /// Takes out a waiter that is too many by the rule for an overload; call it until it returns nil after a look.
    mutating func takeSurplus() -> Waiter? {
        guard overload != nil else { return nil }
        guard countsHosts else { return takeSurplus(of: nil) }
        while let lane = strainedLanes.last {
            // The host may have been forgotten since the look.
            if lane < lanes.count, let waiter = takeSurplus(of: lane) { return waiter }
            strainedLanes.removeLast()
        }
        return nil
    }

    private mutating func takeSurplus(of lane: Int?) -> Waiter? {
        let (counts, strain) = load(of: lane)
        guard ThrottlePriority.allCases.contains(where: { counts[$0] > strain.most[$0] }),
            let lowest = ThrottlePriority.allCases.first(where: { counts[$0] > 0 })
        else { return nil }
        return removeLast(of: lowest, in: lane)
    }

    private func load(of lane: Int?) -> (counts: PerPriority<Int>, strain: ThrottleStrain) {
        lane.map { (lanes[$0].counts, lanes[$0].strain) } ?? (counts, strain)
    }

    /// Whether the newest goes first.
    private func isHasty(_ lane: Int?) -> Bool { lane.map { lanes[$0].haste.isOn } ?? haste.isOn }

    /// Takes out the waiter with the least chance: the newest, or the oldest if the newest goes first.
    private mutating func removeLast(of priority: ThrottlePriority, in lane: Int?) -> Waiter? {
        let isHasty = isHasty(lane)
        counts[priority] -= 1
        guard let lane else { return queues.change(priority) { waiters.pop(newest: !isHasty, of: &$0) }?.element }
        let waiter = lanes[lane].queues.change(priority) { waiters.pop(newest: !isHasty, of: &$0) }?.element
        hasLeft(lane, priority)
        return waiter
    }
}

// MARK: - Hosts

extension ThrottleQueues {
    /// Counts a task that runs without having waited, and returns its lane; nil if it may have none of the free slots.
    mutating func start(at origin: HTTPOrigin, in partition: Int, free: UInt) -> Int? {
        guard !canStart(free), shares.isWhole || shares.mayStart(partition, free: free) else { return nil }
        let host: Int
        if let known = indices[origin] {
            guard hosts[known].hasFreeSlots else { return nil }
            host = known
        } else {
            guard min(limit(of: origin), found[origin] ?? foundForNew) > 0 else { return nil }
            host = index(of: origin)
        }
        let lane = lane(of: host, partition)
        occupy(lane)
        return lane
    }

    mutating func finish(in lane: Int) {
        let host = host(of: lane)
        let hadFreeSlots = hosts[host].hasFreeSlots
        hosts[host].running -= 1
        if !shares.isWhole { shares.finish(partition(of: lane)) }
        if hosts[host].isIdle { forget(host) } else if !hadFreeSlots { updateAll(host) }
    }

    /// Notes how many slots there are, of which the partitions have their shares.
    mutating func share(_ slots: UInt) {
        if !shares.isWhole { shares.setSlots(slots) }
    }

    /// Changes how many tasks of one host may run at once; nil for no limit.
    ///
    /// Tasks are counted per host from the first limit on. It finds the waiters, but not the tasks that run already.
    ///
    /// - Parameter origins: the servers of the ``uncounted``, in case they have to be counted per host.
    mutating func setLimitPerHost(_ limit: UInt?, origins: [QueuePlace: HTTPOrigin]) {
        limitPerHost = limit ?? .max
        if limit != nil { countHosts(origins) }
        adjustLimits()
    }

    /// Changes the limits of single hosts, by their names; tasks are counted per host from the first limit on.
    mutating func setHostLimits(_ limits: [String: UInt], origins: [QueuePlace: HTTPOrigin]) {
        hostLimits = limits
        // However they are spelled.
        for (name, limit) in limits where hostLimits[name.lowercased()] == nil { hostLimits[name.lowercased()] = limit }
        if !limits.isEmpty { countHosts(origins) }
        adjustLimits()
    }

    private mutating func adjustLimits() {
        for host in hosts.indices {
            hosts[host].limit = limit(of: hosts[host].origin)
            updateAll(host)
        }
    }

    private func limit(of origin: HTTPOrigin) -> UInt {
        hostLimits.isEmpty ? limitPerHost : hostLimits[origin.description] ?? limitPerHost
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

    /// The waiters that are not counted per host, with their places.
    var uncounted: [(place: QueuePlace, waiter: Waiter)] {
        ThrottlePriority.allCases.flatMap { priority in
            waiters.places(in: queues[priority]).compactMap { place in waiters[place].map { (place, $0) } }
        }
    }

    private mutating func countHosts(_ origins: [QueuePlace: HTTPOrigin]) {
        guard !countsHosts else { return }
        countsHosts = true
        for priority in ThrottlePriority.allCases {
            let places = waiters.places(in: queues[priority])
            queues[priority] = QueueEnds()
            for place in places {
                guard var note = waiters.note(at: place) else { continue }
                let host = index(of: origins[place] ?? .unknown)
                // There are no partitions while tasks are not counted per host.
                note.lane = lane(of: host, 0)
                hosts[host].waiting += 1
                lanes[note.lane].counts[priority] += 1
                lanes[note.lane].queues.change(priority) { waiters.append(place, note, to: &$0) }
            }
        }
    }

    @inline(never)
    private mutating func append(_ waiter: Waiter, _ note: Note, to lane: Int) -> QueuePlace {
        let priority = note.priority
        let isFirst = lanes[lane].queues[priority].isEmpty
        if isFirst { lanes[lane].turns.forget(priority) }
        hosts[host(of: lane)].waiting += 1
        lanes[lane].counts[priority] += 1
        if !shares.isWhole { partitions[partition(of: lane)].counts[priority] += 1 }
        let place = lanes[lane].queues.change(priority) { waiters.append(waiter, note, to: &$0) }
        if isFirst { update(lane, priority) }
        return place
    }

    /// Takes the first waiter of a priority among those that may have a slot.
    ///
    /// Whether a priority has been overtaken too often is checked twice: among all waiters that could run, which keeps up the
    /// pace if slots are short for all, and among those for the same host, which keeps it up if they are short at one host.
    @inline(never)
    private mutating func takeNextOfHosts(at now: TimerInstant, free: UInt) -> Next? {
        let open = open(free)
        guard let chosen = turns.turn(among: open.ready, at: now), let lane = firstLane(of: chosen, open) else {
            return nil
        }
        let (waiting, host) = (lanes[lane].isWaiting, host(of: lane))
        let priority = lanes[lane].turns.turn(insteadOf: chosen, among: waiting, at: now)
        let takesNewest =
            lanes[lane].haste.isOn && isShort(for: lane, free) && lanes[lane].haste.takesNewest(of: priority)
        guard let (waiter, note) = lanes[lane].queues.change(priority, { waiters.pop(newest: takesNewest, of: &$0) })
        else { return nil }
        counts[priority] -= 1
        hasLeft(lane, priority)
        if note.latestStart < now, isWanted(in: lane, free) {
            if hosts[host].isIdle { forget(host) }
            return Next(waiter: waiter, number: note.number, lane: lane, isTooLate: true)
        }
        turns.count(priority, past: open.ready, at: now)
        lanes[lane].turns.count(priority, past: waiting, at: now)
        if overload != nil { lanes[lane].strain.count(priority) }
        occupy(lane)
        let isOldest = mayHasten && (!takesNewest || lanes[lane].queues[priority].isEmpty)
        return Next(waiter: waiter, number: note.number, lane: lane, isOldest: isOldest)
    }

    /// Whether the waiters of a lane wait only for each other, so that their order concerns no other lane.
    private func isShort(for lane: Int, _ free: UInt) -> Bool {
        if free > 1 { return hosts[host(of: lane)].free == 1 }
        // Slots are short for all. As its host has free slots, the lane stands in a heap for each priority of its waiters.
        let isWaiting = lanes[lane].isWaiting
        return readyCount == (isWaiting.low ? 1 : 0) + (isWaiting.normal ? 1 : 0) + (isWaiting.high ? 1 : 0)
    }

    /// Whether others could use all slots that are free for a lane.
    private func isWanted(in lane: Int, _ free: UInt) -> Bool {
        let (counts, partition) = (lanes[lane].counts, partition(of: lane))
        if UInt(counts.low + counts.normal + counts.high) >= min(hosts[host(of: lane)].free, free) { return true }
        if free == 1 { return canStart(free) }
        return !shares.isWhole && partitions[partition].isReady && !shares.mayStart(partition, free: free - 1)
    }

    /// The partitions that may have the next slot, and the priorities of their waiters.
    private struct Open {
        var ready: PerPriority<Bool>
        let free: UInt
        /// Whether only partitions that have less than their share may have it.
        var areOwed = false
    }

    @inline(__always)
    private func open(_ free: UInt) -> Open {
        shares.isWhole ? Open(ready: partitions[0].ready.map { !$0.isEmpty }, free: free) : openPartitions(free)
    }

    @inline(never)
    private func openPartitions(_ free: UInt) -> Open {
        var open = Open(ready: PerPriority(false), free: free)
        open.areOwed = partitions.indices.contains {
            partitions[$0].isReady && shares.isOwed($0) && shares.mayStart($0, free: free)
        }
        for partition in partitions.indices where isOpen(partition, open) {
            let ready = partitions[partition].ready
            open.ready.low = open.ready.low || !ready.low.isEmpty
            open.ready.normal = open.ready.normal || !ready.normal.isEmpty
            open.ready.high = open.ready.high || !ready.high.isEmpty
        }
        return open
    }

    private func isOpen(_ partition: Int, _ open: Open) -> Bool {
        shares.mayStart(partition, free: open.free) && (!open.areOwed || shares.isOwed(partition))
    }

    /// The lane of the first waiter of a priority in the open partitions.
    @inline(__always)
    private func firstLane(of priority: ThrottlePriority, _ open: Open) -> Int? {
        if shares.isWhole { return partitions[0].ready[priority].first }
        var first: (lane: Int, arrival: UInt64)?
        for partition in partitions.indices where isOpen(partition, open) {
            guard let host = partitions[partition].ready[priority].first else { continue }
            let lane = lane(of: host, partition)
            guard let arrival = waiters.firstArrival(in: lanes[lane].queues[priority]) else { continue }
            if first.map({ arrival < $0.arrival }) ?? true { first = (lane, arrival) }
        }
        return first?.lane
    }

    private mutating func occupy(_ lane: Int) {
        let host = host(of: lane)
        hosts[host].running += 1
        if !shares.isWhole { shares.start(partition(of: lane)) }
        if !hosts[host].hasFreeSlots { updateAll(host) }
    }

    private mutating func hasLeft(_ lane: Int, _ priority: ThrottlePriority) {
        hosts[host(of: lane)].waiting -= 1
        lanes[lane].counts[priority] -= 1
        if !shares.isWhole { partitions[partition(of: lane)].counts[priority] -= 1 }
        update(lane, priority)
    }

    /// Puts a host into the heaps or takes it out of them, according to its free slots and waiters.
    private mutating func updateAll(_ host: Int) {
        for lane in lanes(of: host) {
            update(lane, .low)
            update(lane, .normal)
            update(lane, .high)
        }
    }

    private mutating func update(_ lane: Int, _ priority: ThrottlePriority) {
        let host = host(of: lane)
        let first = hosts[host].hasFreeSlots ? waiters.firstArrival(in: lanes[lane].queues[priority]) : nil
        readyCount += partitions[partition(of: lane)].ready.change(priority) { heap in
            let before = heap.count
            heap.update(host, to: first)
            return heap.count - before
        }
    }

    // MARK: Indices

    private func host(of lane: Int) -> Int { shares.isWhole ? lane : lane / shares.count }
    private func partition(of lane: Int) -> Int { shares.isWhole ? 0 : lane % shares.count }
    private func lane(of host: Int, _ partition: Int) -> Int { host * shares.count + partition }
    private func lanes(of host: Int) -> Range<Int> { lane(of: host, 0)..<lane(of: host + 1, 0) }

    /// The index of a host, which is known from now on.
    private mutating func index(of origin: HTTPOrigin) -> Int {
        if let known = indices[origin] { return known }
        let host = Host(origin: origin, limit: limit(of: origin), found: found[origin] ?? foundForNew)
        let index = freeHosts.popLast() ?? hosts.count
        if index == hosts.count {
            hosts.append(host)
            for _ in 0..<shares.count { lanes.append(Lane(turns: PriorityTurns(patience))) }
        } else {
            hosts[index] = host
            for lane in lanes(of: index) { lanes[lane] = Lane(turns: PriorityTurns(patience)) }
        }
        indices[origin] = index
        return index
    }

    /// Forgets a host that has no task.
    private mutating func forget(_ host: Int) {
        // Many hosts that were called once do not leave their memory behind.
        let keptHosts = 64
        indices[hosts[host].origin] = nil
        freeHosts.append(host)
        if indices.isEmpty, hosts.count > keptHosts {
            (hosts, lanes, freeHosts, indices) = ([], [], [], [:])
            for partition in partitions.indices { partitions[partition].ready = PerPriority(IndexedHeap()) }
        }
    }
}
