import LineProtocol
import LoaderChain

/// The data of a report: counts and latencies by host, route and time.
///
/// It takes samples in any order, and its size does not depend on how many there are.
struct ReportModel: Sendable {
    typealias Tally = MetricSummary

    struct Key: Hashable, Comparable, Sendable {
        var host: String
        var route: String
        var method: String

        static func < (left: Key, right: Key) -> Bool {
            (left.host, left.route, left.method) < (right.host, right.route, right.method)
        }

        static let others = Key(host: "all others", route: "", method: "")
    }

    struct Route: Sendable {
        var total = Tally()
        /// How long the requests took that say something about the server.
        var judgedLatency = LatencyHistogram()
        var bars = LatencyBars()
        /// By number of the time slot.
        var slots: [Int64: Tally] = [:]
    }

    /// The maximum number of routes; all others are counted together.
    static let routeLimit = 200
    /// The maximum number of routes of which it is known how many failed.
    static let censusLimit = 50_000

    private(set) var routes: [Key: Route] = [:]
    /// The routes that are not counted together; nil for the first that come.
    private let chosen: Set<Key>?
    private var census: RouteCensus
    private(set) var slots = TimeSlots()
    /// The times of the first and the last request, in nanoseconds.
    private(set) var period: ClosedRange<Int64>?
    /// How many points were not requests, or were incomplete.
    private(set) var otherPoints = 0
    private(set) var badLines = 0
    /// The first lines that could not be read, with their files.
    private(set) var firstProblems: [String] = []

    /// Makes an empty model; tests pass a smaller limit.
    init(censusLimit: Int = ReportModel.censusLimit) {
        chosen = nil
        census = RouteCensus(limit: censusLimit)
    }

    private init(chosen: Set<Key>) {
        self.chosen = chosen
        census = RouteCensus(limit: 0)
    }

    /// A model for the most important routes, to read the same once more; nil if all routes are in this one.
    var withMostImportant: ReportModel? {
        guard census.count > Self.routeLimit else { return nil }
        return ReportModel(chosen: census.mostImportant(Self.routeLimit))
    }

    /// Whether some routes were not counted, so that an important one may be among them.
    var lacksRoutes: Bool { census.isIncomplete }

    mutating func note(_ point: Point) {
        if let sample = RequestSample(point) { note(sample) } else { otherPoints += 1 }
    }

    mutating func note(_ error: LineDecodingError, in file: String) {
        badLines += 1
        if firstProblems.count < 5 { firstProblems.append("\(file): \(error)") }
    }

    mutating func note(_ sample: RequestSample) {
        var key = Key(host: sample.host, route: sample.route, method: sample.method)
        if let chosen {
            if !chosen.contains(key) { key = .others }
        } else {
            census.note(key, sample.kind)
            if routes[key] == nil, routes.count >= Self.routeLimit { key = .others }
        }
        let second = TimeSlots.divide(sample.time, by: 1_000_000_000)
        let factor = slots.include(second)
        if factor > 1 { for key in Array(routes.keys) { routes[key]?.widen(by: factor) } }
        routes[key, default: Route()].note(sample, in: slots.slot(of: second))
        period =
            period.map { min($0.lowerBound, sample.time)...max($0.upperBound, sample.time) } ?? sample
            .time...sample.time
    }

    /// What was left out, line by line; `text` makes a line of a problem.
    func omissions(_ text: (String) -> String) -> [String] {
        var lines: [String] = []
        if otherPoints > 0 {
            lines.append("Skipped, because they are not requests: \(NumberText.count(otherPoints, "point")).")
        }
        if badLines > 0 {
            lines.append("Skipped, because they cannot be read: \(NumberText.count(badLines, "line")). The first:")
            lines += firstProblems.map(text)
        }
        return lines
    }

    var measured: [FailConditions.Measured] {
        hosts.flatMap(\.routes).map { key, route in
            FailConditions.Measured(
                name: key == .others ? "all other routes" : "\(key.method) \(key.host)\(key.route)",
                errors: route.total.judged - route.total.good, judged: route.total.judged,
                latency: route.judgedLatency)
        }
    }

    var total: Tally { routes.values.reduce(into: Tally()) { $0.merge($1.total) } }

    var hosts: [(host: String, routes: [(key: Key, route: Route)])] {
        let sorted = routes.sorted { $0.key < $1.key }.map { (key: $0.key, route: $0.value) }
        var hosts: [(host: String, routes: [(key: Key, route: Route)])] = []
        for entry in sorted {
            if hosts.last?.host != entry.key.host { hosts.append((entry.key.host, [])) }
            hosts[hosts.count - 1].routes.append(entry)
        }
        return hosts
    }
}

extension ReportModel.Route {
    mutating func note(_ sample: RequestSample, in slot: Int64) {
        total.record(sample.kind, nanoseconds: sample.duration.saturatedNanoseconds)
        if sample.kind.isJudged { judgedLatency.record(sample.duration) }
        bars.record(sample.duration)
        slots[slot, default: MetricSummary()].record(sample.kind, nanoseconds: sample.duration.saturatedNanoseconds)
    }

    /// Merges time slots.
    mutating func widen(by factor: Int64) {
        var wider: [Int64: ReportModel.Tally] = [:]
        for (slot, tally) in slots { wider[TimeSlots.divide(slot, by: factor), default: .init()].merge(tally) }
        slots = wider
    }
}

/// How many requests each route had and how many of them failed, to find the most important routes.
///
/// Its size is bounded: when it is full, a route that fails takes the place of one that does not and is not busy.
struct RouteCensus: Sendable {
    typealias Key = ReportModel.Key

    private struct Count {
        var requests = 0
        var failures = 0

        mutating func note(_ kind: HTTPMetric.Outcome.Kind) {
            requests += 1
            if kind.isError { failures += 1 }
        }
    }

    private let limit: Int
    private var counts: [Key: Count] = [:]
    /// The routes whose first request did not fail; only the last few are looked at, so that a new route costs no long search.
    private var replaceable: [Key] = []
    /// Whether there was no room for all routes.
    private(set) var isIncomplete = false

    init(limit: Int) { self.limit = limit }

    var count: Int { counts.count }

    mutating func note(_ key: Key, _ kind: HTTPMetric.Outcome.Kind) {
        // One search of the dictionary, as this is done for every line of a file.
        if let index = counts.index(forKey: key) {
            counts.values[index].note(kind)
            return
        }
        if counts.count >= limit {
            isIncomplete = true
            guard kind.isError, replaceOne() else { return }
        }
        if !kind.isError { replaceable.append(key) }
        counts[key, default: Count()].note(kind)
    }

    /// The busiest, as half of the number, and those of the others that fail most.
    ///
    /// Failures alone do not suffice: paths that a scanner tries fail once each, and there is no end to them.
    func mostImportant(_ number: Int) -> Set<Key> {
        let busiest = counts.sorted { ($1.value.requests, $0.key) < ($0.value.requests, $1.key) }.prefix(number / 2)
        let chosen = Set(busiest.map(\.key))
        let failing = counts.filter { !chosen.contains($0.key) }.sorted {
            ($1.value.failures, $1.value.requests, $0.key) < ($0.value.failures, $0.value.requests, $1.key)
        }
        return chosen.union(failing.prefix(number - chosen.count).map(\.key))
    }

    /// How many routes are compared to find one that is not busy.
    private static var lookedAt: Int { 16 }

    /// Forgets a route that does not fail and is not busy, and returns whether there was one.
    private mutating func replaceOne() -> Bool {
        while !replaceable.isEmpty {
            let candidates = replaceable.indices.suffix(Self.lookedAt)
            let index = candidates.min { requests(of: replaceable[$0]) < requests(of: replaceable[$1]) }
            replaceable.swapAt(index ?? replaceable.count - 1, replaceable.count - 1)
            // It may have failed since its first request.
            guard let key = replaceable.popLast(), counts[key]?.failures == 0 else { continue }
            counts[key] = nil
            return true
        }
        return false
    }

    private func requests(of key: Key) -> Int { counts[key]?.requests ?? 0 }
}

/// Divides a period into time slots, never more than a chart can show.
///
/// Each width is a multiple of the one before, so that slots can be merged when the period grows, in whatever order the
/// samples arrive.
struct TimeSlots: Sendable {
    static let limit = 120
    private static let widths: [Int64] = [1, 5, 10, 30, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 604_800]

    /// The width of a slot in seconds.
    private(set) var width: Int64 = 1
    /// The first and the last slot, counted from 1970; nil before the first sample.
    private(set) var range: ClosedRange<Int64>?

    func slot(of second: Int64) -> Int64 { Self.divide(second, by: width) }

    /// Makes room for a second, and returns the factor to divide all slot numbers by; 1 for no change.
    mutating func include(_ second: Int64) -> Int64 {
        let slot = slot(of: second)
        guard let before = range else {
            range = slot...slot
            return 1
        }
        range = min(before.lowerBound, slot)...max(before.upperBound, slot)
        var factor: Int64 = 1
        while let range, range.upperBound - range.lowerBound >= Self.limit {
            let step = Self.factor(after: width)
            width *= step
            factor *= step
            self.range = Self.divide(range.lowerBound, by: step)...Self.divide(range.upperBound, by: step)
        }
        return factor
    }

    /// The ratio of the next width to this one.
    private static func factor(after width: Int64) -> Int64 {
        guard let next = widths.first(where: { $0 > width }) else { return 2 }
        return next / width
    }

    /// Divides and rounds down, also for times before 1970.
    static func divide(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}
