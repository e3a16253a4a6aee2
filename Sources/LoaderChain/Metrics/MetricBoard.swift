/// A sink that counts in memory, for each route of each host: how many requests, how they ended, how long they took.
///
/// ```swift
/// let board = MetricBoard()
/// let chain = MetricsTap(board) --> terminal
/// _ = try await chain.load(request)
///
/// for row in board.rows where row.summary.errorRatio > 0.1 {
///     print(row.host, row.method, row.route, row.summary.latency.quantile(0.99) ?? .zero)
/// }
/// print(board)
/// ```
///
/// A row takes less than 4 kB however many requests it counts. The number of rows is limited; requests beyond it are
/// counted together. Quantiles are off by at most 1.6 %; see ``LatencyHistogram``.
///
/// The board counts a request as soon as it has ended, and ignores events and traces. With a sampled recorder, counts
/// and rates are those of the sample.
public final class MetricBoard: MetricSink {
    private let clock: TimerClock
    private let state: Locked<MetricBoardState>

    /// Makes an empty board.
    ///
    /// - Parameters:
    ///   - maximumNumberOfRows: the number of routes that are counted separately.
    ///   - window: the time over which the rate is measured.
    ///   - timers: the clock.
    public init(
        maximumNumberOfRows: Int = 500, window: Duration = .seconds(60), timers: any Timers = SystemTimers.shared
    ) {
        clock = TimerClock(timers)
        state = Locked(MetricBoardState(limit: maximumNumberOfRows, window: window))
    }

    /// True: counting never waits, so it needs no queue.
    public var isImmediate: Bool { true }

    /// Counts a request.
    public func record(_ record: MetricRecord) {
        guard case .request(let metric) = record else { return }
        let key = MetricBoardState.Key(host: metric.host, method: metric.method, route: metric.route)
        count(metric.outcome.kind, metric.duration, for: key)
    }

    /// Counts a request by its result, without a metric.
    func record(_ result: HTTPResult, duration: Duration) {
        let request = result.request
        let key = MetricBoardState.Key(host: request.hostKey, method: request.method, route: request.routeInMetrics)
        count(HTTPMetric.Outcome(result).kind, duration, for: key)
    }

    private func count(_ kind: HTTPMetric.Outcome.Kind, _ duration: Duration, for key: MetricBoardState.Key) {
        let now = clock.now
        let nanoseconds = duration.saturatedNanoseconds
        state.withLock { $0.count(kind, nanoseconds: nanoseconds, for: key, at: now) }
    }

    /// The summary of the requests to one route of a host with one method.
    public struct Row: Sendable {
        /// The host; empty for requests that had none.
        public let host: String
        /// The method.
        public let method: HTTPMethod
        /// The route, as ``HTTPMetric/route`` has it.
        public let route: String
        /// The counts and durations.
        public let summary: MetricSummary
    }

    /// All rows, by host, route and method.
    public var rows: [Row] {
        let now = clock.now
        return state.withLock { $0.read(at: now) }
            .map { Row(host: $0.host, method: $0.method, route: $0.route, summary: $1) }
            .sorted { ($0.host, $0.route, $0.method.rawValue) < ($1.host, $1.route, $1.method.rawValue) }
    }

    /// The summary of the requests to routes that got no row; nil if there were none.
    public var overflow: MetricSummary? {
        let now = clock.now
        return state.withLock { $0.readOverflow(at: now) }
    }

    /// The summary of all requests.
    public var total: MetricSummary {
        var total = sum { _ in true }
        if let overflow { total.merge(overflow) }
        return total
    }

    /// The summary of the requests to one route of a host, with any method.
    public subscript(host host: String, route route: String) -> MetricSummary {
        sum { $0.host == host && $0.route == route }
    }

    /// The summary of the requests to one host that have a row.
    public subscript(host host: String) -> MetricSummary {
        sum { $0.host == host }
    }

    /// Forgets everything.
    public func clear() {
        state.withLock { $0.removeAll() }
    }

    private func sum(where isIncluded: (Row) -> Bool) -> MetricSummary {
        rows.reduce(into: MetricSummary()) { if isIncluded($1) { $0.merge($1.summary) } }
    }
}

extension MetricBoard: CustomStringConvertible {
    /// A line for each row.
    public var description: String {
        var lines = rows.map { "\($0.method) \($0.host)\($0.route): \($0.summary)" }
        if let overflow { lines.append("all others: \(overflow)") }
        return lines.map(ASCII.printable).joined(separator: "\n")
    }
}

/// The counts, the rate and the durations of many requests.
///
/// Summaries of several rows of a ``MetricBoard`` can be merged.
public struct MetricSummary: Sendable {
    /// How long the requests took.
    public private(set) var latency = LatencyHistogram()
    /// How many requests per second ended, over the board's window.
    public fileprivate(set) var rate = 0.0
    private var counts = [Int](repeating: 0, count: HTTPMetric.Outcome.Kind.allCases.count)

    /// Makes an empty summary.
    public init() {}

    /// How many requests ended.
    public var count: Int { latency.count }

    /// How many requests ended with that kind of outcome.
    public subscript(kind: HTTPMetric.Outcome.Kind) -> Int { counts[kind.rawValue] }

    /// The share of requests that failed; 0 if there are none.
    ///
    /// Requests that were cancelled or reset do not count.
    public var errorRatio: Double {
        func sum(where isCounted: (HTTPMetric.Outcome.Kind) -> Bool) -> Double {
            HTTPMetric.Outcome.Kind.allCases.reduce(0) { isCounted($1) ? $0 + Double(self[$1]) : $0 }
        }
        let ended = sum(where: \.isJudged)
        return ended == 0 ? 0 : sum(where: \.isError) / ended
    }

    package mutating func record(_ kind: HTTPMetric.Outcome.Kind, nanoseconds: Int64) {
        add(1, to: kind.rawValue)
        latency.record(nanoseconds: nanoseconds)
    }

    /// Adds what `other` has counted.
    public mutating func merge(_ other: MetricSummary) {
        latency.merge(other.latency)
        rate += other.rate
        for index in counts.indices { add(other.counts[index], to: index) }
    }

    /// Adds to a count, which saturates.
    private mutating func add(_ count: Int, to index: Int) {
        counts[index] = counts[index].addingClamped(count)
    }
}

extension MetricSummary: CustomStringConvertible {
    /// The counts and the times in one line.
    public var description: String {
        let kinds = HTTPMetric.Outcome.Kind.allCases.filter { self[$0] > 0 }.map { "\($0) \(self[$0])" }
        let times = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)].map { name, share in
            "\(name) \((latency.quantile(share) ?? .zero).inMilliseconds)"
        }
        return ((kinds + times) + ["max \((latency.maximum ?? .zero).inMilliseconds)"]).joined(separator: ", ")
    }
}

/// The rows of a board, in a bounded number.
///
/// The first rows stay. Routes beyond the limit share one row, so that a program that uses too many names loses detail,
/// and the memory stays bounded.
struct MetricBoardState {
    struct Key: Hashable {
        let host: String
        let method: HTTPMethod
        let route: String
    }

    private struct Row {
        var summary = MetricSummary()
        var recent: SlidingWindow<Int>

        init(_ window: Duration) { recent = SlidingWindow(window) }

        mutating func count(_ kind: HTTPMetric.Outcome.Kind, nanoseconds: Int64, at now: TimerInstant) {
            summary.record(kind, nanoseconds: nanoseconds)
            recent.move(to: now)
            recent.add(1)
        }

        func read(at now: TimerInstant, per seconds: Double) -> MetricSummary {
            var recent = recent
            recent.move(to: now)
            var summary = summary
            summary.rate = Double(recent.sum) / seconds
            return summary
        }
    }

    private let limit: Int
    private let window: Duration
    private var rows: [Key: Row] = [:]
    private var overflow: Row?

    init(limit: Int, window: Duration) {
        let mostRows = 1 << 20
        self.limit = min(limit, mostRows)
        self.window = max(.milliseconds(1), window)
    }

    mutating func count(_ kind: HTTPMetric.Outcome.Kind, nanoseconds: Int64, for key: Key, at now: TimerInstant) {
        if let index = rows.index(forKey: key) {
            rows.values[index].count(kind, nanoseconds: nanoseconds, at: now)
        } else if rows.count < limit {
            rows[key, default: Row(window)].count(kind, nanoseconds: nanoseconds, at: now)
        } else {
            if overflow == nil { overflow = Row(window) }
            overflow?.count(kind, nanoseconds: nanoseconds, at: now)
        }
    }

    func read(at now: TimerInstant) -> [(key: Key, summary: MetricSummary)] {
        rows.map { ($0.key, $0.value.read(at: now, per: seconds)) }
    }

    /// The row that routes beyond the limit share; nil if there are none.
    func readOverflow(at now: TimerInstant) -> MetricSummary? { overflow?.read(at: now, per: seconds) }

    mutating func removeAll() { self = MetricBoardState(limit: limit, window: window) }

    private var seconds: Double { window / .seconds(1) }
}
