/// The counts, the rate and the durations of many requests.
///
/// Summaries of several rows of a ``MetricBoard`` can be merged.
public struct MetricSummary: Sendable {
    /// How long the requests took.
    public private(set) var latency = LatencyHistogram()
    /// How many requests per second ended, over the board's window.
    public internal(set) var rate = 0.0
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
        let ended = sum { $0 != .cancelled && $0 != .reset }
        return ended == 0 ? 0 : sum(where: \.isError) / ended
    }

    /// Counts one more request.
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
        let (sum, isOverflow) = counts[index].addingReportingOverflow(count)
        counts[index] = isOverflow ? .max : sum
    }
}
