import LoaderChain

/// What is known of every endpoint that is watched: a value, which takes one check after the other.
struct WatchState: Sendable {
    /// What is known of one.
    struct Endpoint: Sendable {
        /// Its address without secrets.
        let name: String
        /// How many checks said something.
        var checks = 0
        /// How many of them said that it is healthy.
        var healthy = 0
        /// How many were given up.
        var cancelled = 0
        /// How many were left out because the one before had not ended.
        var missed = 0
        /// How long the checks took that brought an answer.
        var latency = LatencyHistogram()
        /// The last ones, oldest first.
        var recent: [Recent] = []
        var last: WatchVerdict?
        var lastDuration: Duration = .zero
        /// Since when it is as it is.
        var since: TimerInstant
        /// How often it stopped being healthy, or never was.
        var outages = 0
        /// For how long it was not healthy, outages that are over.
        var downtime: Duration = .zero

        /// Whether the last check that said something said that it is healthy; nil before the first.
        var isHealthy: Bool? { last?.isHealthy }

        /// For how long it was not healthy, by `now`.
        func downtime(by now: TimerInstant) -> Duration {
            isHealthy == false ? downtime + since.duration(to: now) : downtime
        }
    }

    /// A check, for the picture of the last ones.
    struct Recent: Hashable, Sendable {
        let isHealthy: Bool
        let duration: Duration
    }

    /// Something that whoever watches wants to hear of.
    enum Change: Hashable, Sendable {
        case wentDown
        /// It is healthy again, after so long.
        case cameBack(Duration)
    }

    /// How many checks are kept for the picture.
    static var recentCount: Int { 30 }

    let start: TimerInstant
    private(set) var endpoints: [Endpoint]

    init(_ names: [String], at start: TimerInstant) {
        self.start = start
        endpoints = names.map { Endpoint(name: $0, since: start) }
    }

    /// Whether every check of every endpoint said that it is healthy, and there was one at least.
    var isAllHealthy: Bool { endpoints.allSatisfy { $0.checks > 0 && $0.healthy == $0.checks } }

    /// Takes the result of a check.
    mutating func note(
        _ verdict: WatchVerdict, duration: Duration, of index: Int, at now: TimerInstant
    ) -> Change? {
        guard endpoints.indices.contains(index) else { return nil }
        guard verdict != .none else {
            endpoints[index].cancelled += 1
            return nil
        }
        let before = endpoints[index].isHealthy
        let isHealthy = verdict.isHealthy
        endpoints[index].checks += 1
        endpoints[index].last = verdict
        endpoints[index].lastDuration = duration
        if isHealthy { endpoints[index].healthy += 1 }
        if case .silent = verdict {} else { endpoints[index].latency.record(duration) }
        endpoints[index].recent.append(Recent(isHealthy: isHealthy, duration: duration))
        let excess = endpoints[index].recent.count - Self.recentCount
        if excess > 0 { endpoints[index].recent.removeFirst(excess) }
        // The first check changes nothing if all is well.
        guard isHealthy != (before ?? true) else {
            if before == nil { endpoints[index].since = now }
            return nil
        }
        return turn(index, isHealthy: isHealthy, at: now)
    }

    private mutating func turn(_ index: Int, isHealthy: Bool, at now: TimerInstant) -> Change {
        defer { endpoints[index].since = now }
        guard isHealthy else {
            endpoints[index].outages += 1
            return .wentDown
        }
        let outage = endpoints[index].since.duration(to: now)
        endpoints[index].downtime += outage
        return .cameBack(outage)
    }

    /// Notes that checks were left out.
    mutating func noteMissed(_ count: Int, of index: Int) {
        guard endpoints.indices.contains(index) else { return }
        endpoints[index].missed += count
    }
}
