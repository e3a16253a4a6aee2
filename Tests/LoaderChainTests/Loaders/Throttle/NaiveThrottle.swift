import LoaderChainTesting

@testable import LoaderChain

/// What can happen to a throttle; positions count from the front of what is there, and wrap around.
enum ThrottleEvent: Equatable {
    case arrive(ThrottlePriority, host: String)
    case finish(Int)
    case cancel(Int)
    case limit(UInt)
    case perHost(UInt?)
    case reset
}

/// A throttle as plainly as it can be written: two arrays, searched from the front.
struct NaiveThrottle {
    struct Entry {
        let id: Int
        let priority: ThrottlePriority
        let host: String
        var isCounted = false
        /// How many of higher priority went past it while it was the first of its own that could run.
        var passedBy = 0
    }

    var limit: UInt
    let mostWaiting: Int
    let patience: Int
    private(set) var perHost: UInt?
    private(set) var countsHosts: Bool
    private(set) var running: [Entry] = []
    private(set) var waiting: [Entry] = []
    private var passedOver: [ThrottlePriority: Int] = [:]
    private var resets: [(id: Int, older: Set<Int>)] = []

    /// What happened, in order.
    private(set) var log: [String] = []
    /// The most that one waiter was passed by.
    private(set) var worstPassing = 0

    init(limit: UInt, perHost: UInt?, mostWaiting: Int, patience: Int) {
        self.limit = limit
        self.perHost = perHost
        self.mostWaiting = mostWaiting
        self.patience = patience
        countsHosts = perHost != nil
    }

    mutating func arrive(_ id: Int, _ priority: ThrottlePriority, _ host: String) {
        let entry = Entry(id: id, priority: priority, host: host)
        if UInt(running.count) < limit, hasRoom(host), !waiting.contains(where: { hasRoom($0.host) }) {
            start(entry)
        } else if waiting.count < mostWaiting {
            waiting.append(entry)
        } else {
            log.append("\(id) is refused")
        }
    }

    mutating func finish(_ position: Int) {
        let entry = running.remove(at: position)
        log.append("\(entry.id) ends")
        for index in resets.indices { resets[index].older.remove(entry.id) }
        for reset in resets where reset.older.isEmpty { log.append("reset \(reset.id) ends") }
        resets.removeAll { $0.older.isEmpty }
        startWaiters()
    }

    mutating func cancel(_ position: Int) {
        log.append("\(waiting.remove(at: position).id) leaves")
    }

    mutating func setPerHost(_ perHost: UInt?) {
        self.perHost = perHost
        if perHost != nil { countsHosts = true }
        startWaiters()
    }

    mutating func reset(_ id: Int) {
        for entry in waiting.sorted(by: { $0.id < $1.id }) { log.append("\(entry.id) leaves") }
        waiting = []
        if running.isEmpty {
            log.append("reset \(id) ends")
        } else {
            resets.append((id, Set(running.map(\.id))))
        }
    }

    mutating func startWaiters() {
        while UInt(running.count) < limit, let priority = nextPriority() {
            let index = waiting.firstIndex { $0.priority == priority && hasRoom($0.host) } ?? 0
            pass(over: priority)
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
        running.append(entry)
        log.append("\(entry.id) starts")
    }

    private func hasRoom(_ host: String) -> Bool {
        guard let perHost else { return true }
        return UInt(running.count { $0.isCounted && $0.host == host }) < perHost
    }

    private func isReady(_ priority: ThrottlePriority) -> Bool {
        waiting.contains { $0.priority == priority && hasRoom($0.host) }
    }

    private func nextPriority() -> ThrottlePriority? {
        let ready = ThrottlePriority.allCases.filter(isReady)
        let due = ready.dropLast().filter { passedOver[$0, default: 0] >= patience }
        return due.first ?? ready.last
    }

    private mutating func pass(over winner: ThrottlePriority) {
        for priority in ThrottlePriority.allCases where priority < winner {
            guard let first = waiting.firstIndex(where: { $0.priority == priority && hasRoom($0.host) }) else {
                passedOver[priority] = 0
                continue
            }
            passedOver[priority, default: 0] += 1
            waiting[first].passedBy += 1
            worstPassing = max(worstPassing, waiting[first].passedBy)
        }
        passedOver[winner] = 0
    }
}
