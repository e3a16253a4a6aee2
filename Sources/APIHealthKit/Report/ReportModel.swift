import LineProtocol
import LoaderChain

/// What a report shows: everything that was counted, by host and route and over time.
///
/// It takes one sample after the other, in any order, and keeps as much of a million as of a thousand.
package struct ReportModel: Sendable {
    /// What came of some requests.
    package struct Tally: Sendable {
        package var latency = LatencyHistogram()
        package var kinds: [HTTPMetric.Outcome.Kind: Int] = [:]

        package init() {}

        mutating func note(_ sample: RequestSample) {
            latency.record(sample.duration)
            kinds[sample.kind, default: 0] += 1
        }

        package mutating func merge(_ other: Tally) {
            latency.merge(other.latency)
            kinds.merge(other.kinds, uniquingKeysWith: +)
        }

        package var count: Int { latency.count }

        /// How many came to something.
        package var good: Int { (kinds[.success] ?? 0) + (kinds[.redirection] ?? 0) }

        /// How many say something about the other side: not those that were ended here.
        package var judged: Int { count - (kinds[.cancelled] ?? 0) - (kinds[.reset] ?? 0) }
    }

    /// What is told apart.
    package struct Key: Hashable, Comparable, Sendable {
        package var host: String
        package var route: String
        package var method: String

        package static func < (left: Key, right: Key) -> Bool {
            (left.host, left.route, left.method) < (right.host, right.route, right.method)
        }
    }

    /// One route.
    package struct Route: Sendable {
        package var total = Tally()
        package var bars = LatencyBars()
        /// By the number of the part of time.
        package var slots: [Int64: Tally] = [:]
    }

    /// The most routes that are told apart; the others are one together.
    package static let routeLimit = 200

    package private(set) var routes: [Key: Route] = [:]
    package private(set) var slots = TimeSlots()
    /// The first and the last moment, in nanoseconds.
    package private(set) var period: ClosedRange<Int64>?
    /// How many points were about something else than requests, or lacked what matters.
    package private(set) var otherPoints = 0
    /// How many lines could not be read.
    package private(set) var badLines = 0
    /// The first of them, with their files.
    package private(set) var firstProblems: [String] = []

    package init() {}

    /// Takes a point.
    package mutating func note(_ point: Point) {
        if let sample = RequestSample(point) { note(sample) } else { otherPoints += 1 }
    }

    /// Takes a line that is none.
    package mutating func note(_ error: LineDecodingError, in file: String) {
        badLines += 1
        if firstProblems.count < 5 { firstProblems.append("\(file): \(error)") }
    }

    /// Takes a request.
    package mutating func note(_ sample: RequestSample) {
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
    package var total: Tally { routes.values.reduce(into: Tally()) { $0.merge($1.total) } }

    /// The routes of each host, in order.
    package var hosts: [(host: String, routes: [(key: Key, route: Route)])] {
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
        total.note(sample)
        bars.record(sample.duration)
        slots[slot, default: ReportModel.Tally()].note(sample)
    }

    /// Puts parts of time together.
    mutating func widen(by factor: Int64) {
        var wider: [Int64: ReportModel.Tally] = [:]
        for (slot, tally) in slots { wider[TimeSlots.divide(slot, by: factor), default: .init()].merge(tally) }
        slots = wider
    }
}
