// Metrics/Board: the sink that counts in memory: rows of routes, each with a histogram of its durations. It may use
// Sinks, Records and Routes.

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
    let clock: TimerClock
    private let state: Locked<MetricBoardState>

    /// Makes an empty board.
    ///
    /// - Parameters:
    ///   - maximumNumberOfRows: how many routes are counted separately.
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
        let now = clock.now
        let key = RowKey(host: metric.host, method: metric.method, route: Array(metric.route.utf8))
        let nanoseconds = metric.duration.saturatedNanoseconds
        state.withLock { $0.count(metric.outcome.kind, nanoseconds: nanoseconds, for: key, at: now) }
    }

    /// Counts a request as ``record(_:)`` does, without making a metric; `end` is when it ended, nil for now.
    func count(_ request: HTTPRequest.Storage, _ result: HTTPResult, nanoseconds: Int64, at end: TimerInstant?) {
        let now = end ?? clock.now
        let kind = HTTPMetric.Outcome.Kind(result)
        let key = request.rowKey
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
            .map { key, summary in
                let route = String(decoding: key.route, as: UTF8.self)
                return Row(host: key.host, method: key.method, route: route, summary: summary)
            }
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

extension MetricSummary: CustomStringConvertible {
    /// The counts and the times in one line.
    public var description: String {
        let kinds = HTTPMetric.Outcome.Kind.allCases.filter { self[$0] > 0 }.map { "\($0) \(self[$0])" }
        let times = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)].map { name, share in
            "\(name) \(latency.quantile(share) ?? .zero)"
        }
        return ((kinds + times) + ["max \(latency.maximum ?? .zero)"]).joined(separator: ", ")
    }
}
