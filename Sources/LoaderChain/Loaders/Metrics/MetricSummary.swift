/// What became of many requests: how many ended how, how often they come, and how long they take.
///
/// Summaries of several rows of a ``MetricBoard`` can be added up.
public struct MetricSummary: Sendable {
    /// How long the requests took.
    public private(set) var latency = LatencyHistogram()
    /// How many requests per second ended, over the board's window.
    public internal(set) var rate = 0.0
    private var counts = [Int](repeating: 0, count: HTTPMetric.Outcome.Kind.allCases.count)

    /// Makes an empty one.
    public init() {}

    /// How many requests ended.
    public var count: Int { latency.count }

    /// How many requests ended in that way.
    public subscript(kind: HTTPMetric.Outcome.Kind) -> Int { counts[kind.rawValue] }

    /// The part of the requests that came to nothing, of those that came to an end by themselves; 0 if there is none.
    ///
    /// What was cancelled or reset counts neither way.
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

    /// Adds to a count, which stays at the largest number there is.
    private mutating func add(_ count: Int, to index: Int) {
        let (sum, isOverflow) = counts[index].addingReportingOverflow(count)
        counts[index] = isOverflow ? .max : sum
    }
}
