import LoaderChainTesting

@testable import LoaderChain

/// What can happen to a throttle; positions count from the front of what is there, and wrap around.
enum ThrottleEvent: Equatable {
    /// After that time, if any is given, a slot is of no use to it.
    case arrive(ThrottlePriority, host: String, within: Int64? = nil, partition: Int = 0)
    case finish(Int)
    /// The caller of a task that runs leaves.
    case giveUp(Int)
    case cancel(Int)
    case limit(UInt)
    case perHost(UInt?)
    case hostLimits([String: UInt])
    case mostWaiting(Int)
    case look
    case time(Int64)
    case reset
}

/// A throttle as plainly as it can be written: two arrays, searched from the front.
struct NaiveThrottle {
    struct Entry {
        let id: Int
        let priority: ThrottlePriority
        let host: String
        var partition = 0
        var arrival: Int64 = 0
        var latestStart: Int64?
        var isCounted = false
        var start: Int64 = 0
        /// Whether it had waited longest of all when it started.
        var isOldest = false
        /// How many of higher priority went past it since another of its own had a slot.
        var passedBy = 0
        /// How many of them did at its host, while hosts were counted.
        var passedByAtHost = 0
    }

    /// How often a priority has been passed over, and since when.
    private struct Debt {
        var starts = 0
        var since: Int64?
    }

    var limit: UInt
    private(set) var mostWaiting: Int
    let patience: PriorityTurns.Patience
    private let partitions: [ThrottlePartition]
    private let overload: ThrottleOverload?
    private var strains: [Lane: NaiveStrain] = [:]
    private let mayHasten: Bool
    private var hastes: [Lane: NaiveHaste] = [:]
    private var hostLimits: [String: UInt] = [:]
    private var now: Int64 = 0
    private(set) var perHost: UInt?
    private(set) var countsHosts: Bool
    private(set) var running: [Entry] = []
    private(set) var waiting: [Entry] = []
    private var passedOver: [ThrottlePriority: Debt] = [:]
    private var passedOverAtHost: [Lane: [ThrottlePriority: Debt]] = [:]
    private var resets: [(id: Int, older: Set<Int>)] = []

    /// Those who wait for the same host, in the same partition.
    private struct Lane: Hashable {
        let host: String
        let partition: Int
        init(_ entry: Entry) { (host, partition) = (entry.host, entry.partition) }
        static let all = Lane(Entry(id: 0, priority: .low, host: ""))
    }

    /// What happened, in order.
    private(set) var log: [String] = []
    /// The most times that one waiter was overtaken, while hosts were not counted.
    private(set) var worstPassing = 0
    /// How often the newest went first.
    private(set) var overtakings = 0
    /// The most times that one waiter was overtaken at its host, while hosts were counted.
    private(set) var worstPassingAtHost = 0

    init(
        limit: UInt, perHost: UInt?, mostWaiting: Int, patience: PriorityTurns.Patience,
        partitions: [ThrottlePartition] = [], overload: ThrottleOverload? = nil, mayHasten: Bool
    ) {
        self.mayHasten = mayHasten
        self.partitions = partitions
        self.overload = overload
        self.limit = limit
        self.perHost = perHost
        self.mostWaiting = mostWaiting
        self.patience = patience
        countsHosts = perHost != nil || !partitions.isEmpty
    }

    mutating func arrive(
        _ id: Int, _ priority: ThrottlePriority, _ host: String, _ time: Int64?, partition: Int = 0
    ) {
        let entry = Entry(
            id: id, priority: priority, host: host, partition: partition, arrival: now,
            latestStart: time.map { now + $0 })
        if couldStart(entry), !waiting.contains(where: couldStart) {
            start(entry)
        } else if hasNoPlace(entry) {
            if let lowest = waiting.filter({ isKin($0, entry) && $0.priority < priority }).map(\.priority).min(),
                let victim = last(of: lowest, in: lane(entry))
            {
                log.append("\(waiting.remove(at: victim).id) is shed")
                wait(entry)
            } else {
                log.append("\(id) is shed")
            }
        } else if waiting.count(where: { $0.partition == partition }) < mostWaiting {
            wait(entry)
        } else if let least = leastChance(in: partition), waiting[least].priority < priority {
            log.append("\(waiting.remove(at: least).id) is displaced")
            wait(entry)
        } else {
            log.append("\(id) is refused")
        }
        forgetIdleHosts()
    }

    private mutating func wait(_ entry: Entry) {
        let others = waiting.filter { $0.priority == entry.priority }
        if others.isEmpty { passedOver[entry.priority] = nil }
        if !others.contains(where: { Lane($0) == Lane(entry) }) {
            passedOverAtHost[Lane(entry), default: [:]][entry.priority] = nil
        }
        waiting.append(entry)
    }

    /// The one of the lowest priority whose turn would come last, at the host of the last of them.
    private func leastChance(in partition: Int) -> Int? {
        let lowest = waiting.filter { $0.partition == partition }.map(\.priority).min()
        let last = waiting.last { $0.partition == partition && $0.priority == lowest }
        return last.flatMap { self.last(of: $0.priority, in: lane($0)) }
    }

    mutating func setMostWaiting(_ count: Int) {
        mostWaiting = count
        for partition in 0...partitions.count {
            while waiting.count(where: { $0.partition == partition }) > count, let least = leastChance(in: partition) {
                log.append("\(waiting.remove(at: least).id) is displaced")
            }
        }
        forgetIdleHosts()
    }

    // MARK: Overload

    private func lane(_ entry: Entry) -> Lane { countsHosts ? Lane(entry) : .all }
    private func isKin(_ one: Entry, _ other: Entry) -> Bool { lane(one) == lane(other) }

    private func hasNoPlace(_ entry: Entry) -> Bool {
        guard let most = strains[lane(entry)]?.most(entry.priority) else { return false }
        return waiting.count { isKin($0, entry) && $0.priority == entry.priority } >= most
    }

    mutating func look() -> ThrottlePressure {
        guard let overload else { return .none }
        var shed: [Int] = []
        for lane in Set(running.map(lane) + waiting.map(lane) + strains.keys) {
            let kin = waiting.filter { self.lane($0) == lane }
            let isPaused = limit == 0 || countsHosts && (hostLimits[lane.host] ?? perHost) == 0
            guard !isPaused, !kin.isEmpty || running.contains(where: { !countsHosts || $0.host == lane.host }) else {
                strains[lane] = nil
                continue
            }
            let oldest = kin.first.map { now - $0.arrival } ?? 0
            let oldestUpper = kin.first { $0.priority > .low }.map { now - $0.arrival } ?? 0
            strains[lane, default: .init()].look(oldest, oldestUpper, overload)
            while let surplus = surplus(of: lane) { shed.append(waiting.remove(at: surplus).id) }
        }
        for id in shed.sorted() { log.append("\(id) is shed") }
        forgetIdleHosts()
        return strains.values.map(\.pressure).max() ?? .none
    }

    /// The last of the lowest priority, if more of any wait than may.
    private func surplus(of lane: Lane) -> Int? {
        let kin = waiting.filter { self.lane($0) == lane }
        let isCrowded = ThrottlePriority.allCases.contains { priority in
            guard let most = strains[lane]?.most(priority) else { return false }
            return kin.count { $0.priority == priority } > most
        }
        let lowest = kin.map(\.priority).min()
        return isCrowded ? lowest.flatMap { last(of: $0, in: lane) } : nil
    }

    /// The one of a priority whose turn would come last.
    private func last(of priority: ThrottlePriority, in lane: Lane) -> Int? {
        let kin = waiting.indices.filter { self.lane(waiting[$0]) == lane && waiting[$0].priority == priority }
        return hastes[lane]?.isOn ?? false ? kin.first : kin.last
    }

    // MARK: Shares

    private func settings(_ partition: Int) -> ThrottlePartition {
        partition == 0 ? ThrottlePartition("", share: 0) : partitions[partition - 1]
    }

    /// How many slots a partition may count on beyond those that it has.
    private func owed(_ partition: Int) -> Int {
        let own = Int(Double(limit) * settings(partition).share + 1e-6)
        return max(0, own - running.count { $0.partition == partition })
    }

    private var free: Int { Int(limit) - running.count }

    private func couldStart(_ entry: Entry) -> Bool { couldStart(entry, free) }

    private func couldStart(_ entry: Entry, _ free: Int) -> Bool {
        guard free > 0, hasRoom(entry.host) else { return false }
        let others = (0...partitions.count).filter { $0 != entry.partition && !settings($0).lends }
        let isOwn = owed(entry.partition) > 0 && !settings(entry.partition).lends
        return isOwn || free > others.reduce(0) { $0 + owed($1) }
    }

    /// The waiters of which one is next: those that can have a slot; if some of them are owed one, only these.
    private var candidates: [Entry] {
        let all = waiting.filter(couldStart)
        let owed = all.filter { self.owed($0.partition) > 0 }
        return owed.isEmpty ? all : owed
    }

    mutating func pass(_ time: Int64) { now += time }

    mutating func finish(_ position: Int, isGivenUp: Bool = false) {
        let entry = running.remove(at: position)
        // Only those that waited in a queue that is still there are noted in it.
        if mayHasten, entry.isOldest, !isGivenUp || now - entry.start <= 4 * (entry.start - entry.arrival) {
            hastes[entry.isCounted ? Lane(entry) : .all, default: NaiveHaste()].note(isGivenUp, entry, now)
        }
        log.append("\(entry.id) ends")
        for index in resets.indices { resets[index].older.remove(entry.id) }
        for reset in resets where reset.older.isEmpty { log.append("reset \(reset.id) ends") }
        resets.removeAll { $0.older.isEmpty }
        forgetIdleHosts()
        startWaiters()
    }

    private func isTooLate(_ entry: Entry) -> Bool { entry.latestStart.map { $0 < now } ?? false }

    /// Whether others could use all slots that are free for one.
    private func areWanted(_ entry: Entry, by others: [Entry]) -> Bool {
        guard countsHosts else { return others.count >= free }
        if UInt(others.count { Lane($0) == Lane(entry) }) >= min(freeSlots(at: entry.host), UInt(free)) { return true }
        if free == 1 { return others.contains(where: couldStart) }
        return !partitions.isEmpty && others.contains { $0.partition == entry.partition && hasRoom($0.host) }
            && !couldStart(entry, free - 1)
    }

    /// Whether those who wait for a host have nobody else to wait for.
    private func isShort(for entry: Entry) -> Bool {
        if !countsHosts { return true }
        if free > 1 { return freeSlots(at: entry.host) == 1 }
        return !waiting.contains { Lane($0) != Lane(entry) && hasRoom($0.host) }
    }

    /// How many more may run at a host.
    private func freeSlots(at host: String) -> UInt {
        let running = UInt(running.count { $0.isCounted && $0.host == host })
        return (hostLimits[host] ?? perHost).map { $0 > running ? $0 - running : 0 } ?? .max
    }

    mutating func cancel(_ position: Int) {
        log.append("\(waiting.remove(at: position).id) leaves")
        forgetIdleHosts()
    }

    mutating func setHostLimits(_ limits: [String: UInt]) {
        hostLimits = limits
        if !limits.isEmpty { countsHosts = true }
        startWaiters()
    }

    mutating func setPerHost(_ perHost: UInt?) {
        self.perHost = perHost
        if perHost != nil { countsHosts = true }
        startWaiters()
    }

    mutating func reset(_ id: Int) {
        for entry in waiting { log.append("\(entry.id) leaves") }
        waiting = []
        forgetIdleHosts()
        if running.isEmpty {
            log.append("reset \(id) ends")
        } else {
            resets.append((id, Set(running.map(\.id))))
        }
    }

    mutating func startWaiters() {
        while UInt(running.count) < limit, var index = nextIndex() {
            let first = waiting[index]
            waiting[index].isOldest = true
            if isShort(for: first), hastes[lane(first)]?.takesNewest(of: first.priority) ?? false {
                let last = waiting.lastIndex { isKin($0, first) && $0.priority == first.priority } ?? index
                if last != index {
                    waiting[index].isOldest = false
                    overtakings += 1
                }
                index = last
            }
            let others = waiting.filter { $0.id != waiting[index].id }
            if isTooLate(waiting[index]), areWanted(waiting[index], by: others) {
                log.append("\(waiting.remove(at: index).id) is too late")
                forgetIdleHosts()
                continue
            }
            pass(over: waiting[index])
            start(waiting.remove(at: index))
        }
    }

    var snapshot: Throttle.Snapshot {
        var snapshot = Throttle.Snapshot(total: .init(running: running.count, waiting: waiting.count))
        for (index, partition) in partitions.enumerated() {
            snapshot.partitions[partition.name] = .init(
                running: running.count { $0.partition == index + 1 },
                waiting: waiting.count { $0.partition == index + 1 })
        }
        guard countsHosts else { return snapshot }
        for entry in running where entry.isCounted { snapshot.hosts[entry.host, default: .init()].running += 1 }
        for entry in waiting { snapshot.hosts[entry.host, default: .init()].waiting += 1 }
        return snapshot
    }

    private mutating func start(_ entry: Entry) {
        var entry = entry
        entry.isCounted = countsHosts
        entry.start = now
        running.append(entry)
        if overload != nil { strains[lane(entry), default: .init()].starts.append(entry.priority) }
        log.append("\(entry.id) starts")
    }

    func hasRoom(_ host: String) -> Bool { freeSlots(at: host) > 0 }

    /// The next to start: by the turns of all that could run, and then by those at the host that this leads to.
    private func nextIndex() -> Int? {
        let candidates = candidates
        guard let highest = candidates.map(\.priority).max() else { return nil }
        let ready = ThrottlePriority.allCases.filter { priority in candidates.contains { $0.priority == priority } }
        let chosen = ready.first { $0 < highest && isDue(passedOver[$0]) } ?? highest
        guard let entry = candidates.first(where: { $0.priority == chosen }),
            let first = waiting.firstIndex(where: { $0.id == entry.id })
        else { return nil }
        guard countsHosts else { return first }
        let lane = Lane(entry)
        let credit = passedOverAtHost[lane, default: [:]]
        let owed = ThrottlePriority.allCases.first { priority in
            priority < chosen && isDue(credit[priority])
                && waiting.contains { $0.priority == priority && Lane($0) == lane }
        }
        guard let owed else { return first }
        return waiting.firstIndex { $0.priority == owed && Lane($0) == lane }
    }

    private mutating func pass(over winner: Entry) {
        let candidates = candidates
        for priority in ThrottlePriority.allCases where priority < winner.priority {
            if candidates.contains(where: { $0.priority == priority }) { add(to: &passedOver[priority]) }
            guard countsHosts, waiting.contains(where: { $0.priority == priority && Lane($0) == Lane(winner) }) else {
                continue
            }
            add(to: &passedOverAtHost[Lane(winner), default: [:]][priority])
        }
        passedOver[winner.priority] = nil
        if countsHosts { passedOverAtHost[Lane(winner), default: [:]][winner.priority] = nil }
        for index in waiting.indices where !countsHosts || Lane(waiting[index]) == Lane(winner) {
            let entry = waiting[index]
            guard entry.priority <= winner.priority else { continue }
            let isOfWinner = entry.priority == winner.priority
            if countsHosts {
                waiting[index].passedByAtHost = isOfWinner ? 0 : entry.passedByAtHost + 1
                worstPassingAtHost = max(worstPassingAtHost, waiting[index].passedByAtHost)
            } else {
                waiting[index].passedBy = isOfWinner ? 0 : entry.passedBy + 1
                worstPassing = max(worstPassing, waiting[index].passedBy)
            }
        }
    }

    private func add(to debt: inout Debt?) {
        debt = Debt(starts: (debt?.starts ?? 0) + 1, since: debt?.since ?? now)
    }

    private func isDue(_ debt: Debt?) -> Bool {
        guard let debt, let since = debt.since else { return false }
        if let time = patience.time, .nanoseconds(now - since) >= time { return true }
        return debt.starts >= patience.starts
    }

    private mutating func forgetIdleHosts() {
        let known = Set(running.filter(\.isCounted).map(\.host) + waiting.map(\.host))
        if countsHosts {
            strains = strains.filter { known.contains($0.key.host) }
            hastes = hastes.filter { known.contains($0.key.host) }
        }
        passedOverAtHost = passedOverAtHost.filter { known.contains($0.key.host) }
    }
}

/// Whether the newest goes first, as plainly as it can be written: all that was seen is kept.
private struct NaiveHaste {
    private(set) var isOn = false
    private var round: [Bool] = []
    private var roundBegan = Int64.min
    private var verdicts: [Bool] = []
    private var turns: [ThrottlePriority: Int] = [:]

    mutating func note(_ isGivenUp: Bool, _ entry: NaiveThrottle.Entry, _ now: Int64) {
        round.append(isGivenUp)
        guard (isOn ? entry.start : entry.arrival) > roundBegan else { return }
        verdicts.append(10 * round.count { $0 } >= round.count)
        round = []
        roundBegan = now
        guard verdicts.count >= 4, verdicts.suffix(4).allSatisfy({ $0 != isOn }) else { return }
        isOn.toggle()
        verdicts = []
    }

    mutating func takesNewest(of priority: ThrottlePriority) -> Bool {
        guard isOn else { return false }
        turns[priority, default: 0] += 1
        return !(turns[priority] ?? 0).isMultiple(of: 32)
    }
}

/// A queue's overload as plainly as it can be written: all that was seen is kept.
private struct NaiveStrain {
    /// The priorities of all that were passed on since the last look, and their numbers at the looks before.
    var starts: [ThrottlePriority] = []
    private var startsAtLooks: [[ThrottlePriority]] = []
    private var any: [Bool] = []
    private var upper: [Bool] = []
    private var anyHolds = false
    private var upperHolds = false
    private var sheds = false

    var pressure: ThrottlePressure { upperHolds ? .critical : anyHolds ? .elevated : .none }

    mutating func look(_ oldest: Int64, _ oldestUpper: Int64, _ overload: ThrottleOverload) {
        sheds = overload.sheds
        startsAtLooks.append(replace(&starts, with: []))
        let looks = Int(overload.interval / overload.period) + 1
        Self.look(&any, &anyHolds, oldest, looks, overload)
        Self.look(&upper, &upperHolds, oldestUpper, looks, overload)
    }

    private static func look(
        _ seen: inout [Bool], _ holds: inout Bool, _ wait: Int64, _ looks: Int, _ overload: ThrottleOverload
    ) {
        let wait = Duration.nanoseconds(wait)
        seen.append(holds ? wait <= overload.target / 2 : wait > overload.target)
        guard seen.count >= looks, seen.suffix(looks).allSatisfy({ $0 }) else { return }
        holds.toggle()
        seen = []
    }

    /// The number of waiters of a priority that may wait; nil for unlimited.
    func most(_ priority: ThrottlePriority) -> Int? {
        guard sheds, priority == .low ? anyHolds || upperHolds : upperHolds else { return nil }
        return max(1, startsAtLooks.suffix(2).joined().count { $0 <= priority })
    }
}
