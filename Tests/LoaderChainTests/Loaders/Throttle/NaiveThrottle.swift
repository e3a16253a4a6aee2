import LoaderChainTesting

@testable import LoaderChain

/// What can happen to a throttle; positions count from the front of what is there, and wrap around.
enum ThrottleEvent: Equatable {
    /// With a deadline after that time, if any.
    case arrive(ThrottlePriority, host: String, within: Int64? = nil)
    case finish(Int)
    /// A task that runs is ended before it is done.
    case cutOff(Int)
    case cancel(Int)
    case limit(UInt)
    case perHost(UInt?)
    case time(Int64)
    case reset
}

/// A throttle as plainly as it can be written: two arrays, searched from the front.
struct NaiveThrottle {
    struct Entry {
        let id: Int
        let priority: ThrottlePriority
        let host: String
        var deadline: Int64?
        var start: Int64 = 0
        var isCounted = false
        /// How many of higher priority went past it while it was the first of its own.
        var passedBy = 0
        /// How many of them did at its host, while hosts were counted and it was the first of its own there.
        var passedByAtHost = 0
    }

    /// How often a priority has been passed over, and since when.
    private struct Debt {
        var starts = 0
        var since: Int64?
    }

    var limit: UInt
    let mostWaiting: Int
    let patience: PriorityTurns.Patience
    private var now: Int64 = 0
    private(set) var perHost: UInt?
    private(set) var countsHosts: Bool
    private(set) var running: [Entry] = []
    private(set) var waiting: [Entry] = []
    /// How long the tasks of each host take; an empty name stands for all, while hosts are not counted.
    private var usualTimes: [String: UsualTime] = [:]
    private var passedOver: [ThrottlePriority: Debt] = [:]
    private var passedOverAtHost: [String: [ThrottlePriority: Debt]] = [:]
    private var resets: [(id: Int, older: Set<Int>)] = []

    /// What happened, in order.
    private(set) var log: [String] = []
    /// The most that one waiter was passed by, while hosts were not counted.
    private(set) var worstPassing = 0
    /// The most that one waiter was passed by at its host, while hosts were counted.
    private(set) var worstPassingAtHost = 0

    init(limit: UInt, perHost: UInt?, mostWaiting: Int, patience: PriorityTurns.Patience) {
        self.limit = limit
        self.perHost = perHost
        self.mostWaiting = mostWaiting
        self.patience = patience
        countsHosts = perHost != nil
    }

    mutating func arrive(_ id: Int, _ priority: ThrottlePriority, _ host: String, _ time: Int64?) {
        let entry = Entry(id: id, priority: priority, host: host, deadline: time.map { now + $0 })
        if UInt(running.count) < limit, hasRoom(host), !waiting.contains(where: { hasRoom($0.host) }) {
            start(entry)
        } else if isTooLate(entry) {
            log.append("\(id) is too late")
        } else if waiting.count < mostWaiting {
            wait(entry)
        } else if let least = leastChance, waiting[least].priority < priority {
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
        if !others.contains(where: { $0.host == entry.host }) {
            passedOverAtHost[entry.host, default: [:]][entry.priority] = nil
        }
        waiting.append(entry)
    }

    /// The last of the lowest priority.
    private var leastChance: Int? {
        let lowest = waiting.map(\.priority).min()
        return waiting.lastIndex { $0.priority == lowest }
    }

    mutating func pass(_ time: Int64) { now += time }

    mutating func finish(_ position: Int, isDone: Bool) {
        let entry = running.remove(at: position)
        log.append("\(entry.id) ends")
        if entry.deadline != nil {
            learn(now - entry.start, isDone, at: entry.isCounted ? entry.host : "")
        }
        for index in resets.indices { resets[index].older.remove(entry.id) }
        for reset in resets where reset.older.isEmpty { log.append("reset \(reset.id) ends") }
        resets.removeAll { $0.older.isEmpty }
        forgetIdleHosts()
        startWaiters()
    }

    mutating func learn(_ time: Int64, _ isDone: Bool, at host: String) {
        var usual = usualTimes[host, default: UsualTime()]
        if isDone { usual.learn(.nanoseconds(time)) } else { usual.learn(unfinishedAfter: .nanoseconds(time)) }
        usualTimes[host] = usual
    }

    private func isTooLate(_ entry: Entry) -> Bool {
        guard let deadline = entry.deadline, let usual = usualTimes[countsHosts ? entry.host : ""]?.estimate
        else { return false }
        return .nanoseconds(deadline - now) < usual
    }

    mutating func cancel(_ position: Int) {
        log.append("\(waiting.remove(at: position).id) leaves")
        forgetIdleHosts()
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
        while UInt(running.count) < limit, let index = nextIndex() {
            let others = waiting.filter { $0.id != waiting[index].id }
            if isTooLate(waiting[index]), others.contains(where: { hasRoom($0.host) }) {
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
        log.append("\(entry.id) starts")
    }

    func hasRoom(_ host: String) -> Bool {
        guard let perHost else { return true }
        return UInt(running.count { $0.isCounted && $0.host == host }) < perHost
    }

    private func isReady(_ priority: ThrottlePriority) -> Bool {
        waiting.contains { $0.priority == priority && hasRoom($0.host) }
    }

    /// The next to start: by the turns of all that could run, and then by those at the host that this leads to.
    private func nextIndex() -> Int? {
        let ready = ThrottlePriority.allCases.filter(isReady)
        guard let highest = ready.last else { return nil }
        let chosen = ready.first { $0 < highest && isDue(passedOver[$0]) } ?? highest
        let first = waiting.firstIndex { $0.priority == chosen && hasRoom($0.host) } ?? 0
        guard countsHosts else { return first }
        let host = waiting[first].host
        let credit = passedOverAtHost[host, default: [:]]
        let owed = ThrottlePriority.allCases.first { priority in
            priority < chosen && isDue(credit[priority])
                && waiting.contains { $0.priority == priority && $0.host == host }
        }
        guard let owed else { return first }
        return waiting.firstIndex { $0.priority == owed && $0.host == host }
    }

    private mutating func pass(over winner: Entry) {
        for priority in ThrottlePriority.allCases where priority < winner.priority {
            if isReady(priority) { add(to: &passedOver[priority]) }
            if !countsHosts, let first = waiting.firstIndex(where: { $0.priority == priority }) {
                waiting[first].passedBy += 1
                worstPassing = max(worstPassing, waiting[first].passedBy)
            }
            guard countsHosts else { continue }
            let firstAtHost = waiting.firstIndex { $0.priority == priority && $0.host == winner.host }
            if let firstAtHost {
                add(to: &passedOverAtHost[winner.host, default: [:]][priority])
                waiting[firstAtHost].passedByAtHost += 1
                worstPassingAtHost = max(worstPassingAtHost, waiting[firstAtHost].passedByAtHost)
            }
        }
        passedOver[winner.priority] = nil
        if countsHosts { passedOverAtHost[winner.host, default: [:]][winner.priority] = nil }
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
        passedOverAtHost = passedOverAtHost.filter { known.contains($0.key) }
    }
}
