import LineProtocol
import LoaderChain

/// What a report shows: everything that was counted, by host and route and over time.
///
/// It takes one sample after the other, in any order, and keeps as much of a million as of a thousand.
struct ReportModel: Sendable {
    /// What became of some requests.
    typealias Tally = MetricSummary

    /// What is told apart.
    struct Key: Hashable, Comparable, Sendable {
        var host: String
        var route: String
        var method: String

        static func < (left: Key, right: Key) -> Bool {
            (left.host, left.route, left.method) < (right.host, right.route, right.method)
        }
    }

    /// One route.
    struct Route: Sendable {
        var total = Tally()
        var bars = LatencyBars()
        /// By the number of the part of time.
        var slots: [Int64: Tally] = [:]
    }

    /// The most routes that are told apart; the others are one together.
    static let routeLimit = 200

    private(set) var routes: [Key: Route] = [:]
    private(set) var slots = TimeSlots()
    /// The first and the last moment, in nanoseconds.
    private(set) var period: ClosedRange<Int64>?
    /// How many points were about something else than requests, or lacked what matters.
    private(set) var otherPoints = 0
    /// How many lines could not be read.
    private(set) var badLines = 0
    /// The first of them, with their files.
    private(set) var firstProblems: [String] = []

    init() {}

    /// Takes a point.
    mutating func note(_ point: Point) {
        if let sample = RequestSample(point) { note(sample) } else { otherPoints += 1 }
    }

    /// Takes a line that is none.
    mutating func note(_ error: LineDecodingError, in file: String) {
        badLines += 1
        if firstProblems.count < 5 { firstProblems.append("\(file): \(error)") }
    }

    /// Takes a request.
    mutating func note(_ sample: RequestSample) {
        var key = Key(host: sample.host, route: sample.route, method: sample.method)
        if routes[key] == nil, routes.count >= Self.routeLimit { key = Key(host: "all others", route: "", method: "") }
        let second = TimeSlots.divide(sample.time, by: 1_000_000_000)
        let factor = slots.include(second)
        if factor > 1 { for key in Array(routes.keys) { routes[key]?.widen(by: factor) } }
        routes[key, default: Route()].note(sample, in: slots.slot(of: second))
        period =
            period.map { min($0.lowerBound, sample.time)...max($0.upperBound, sample.time) } ?? sample
            .time...sample.time
    }

    /// All routes together.
    var total: Tally { routes.values.reduce(into: Tally()) { $0.merge($1.total) } }

    /// The routes of each host, in order.
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
        bars.record(sample.duration)
        slots[slot, default: MetricSummary()].record(sample.kind, nanoseconds: sample.duration.saturatedNanoseconds)
    }

    /// Puts parts of time together.
    mutating func widen(by factor: Int64) {
        var wider: [Int64: ReportModel.Tally] = [:]
        for (slot, tally) in slots { wider[TimeSlots.divide(slot, by: factor), default: .init()].merge(tally) }
        slots = wider
    }
}
