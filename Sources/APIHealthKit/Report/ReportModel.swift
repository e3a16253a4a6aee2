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

    /// Counts a line that could not be read.
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
