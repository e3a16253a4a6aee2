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
        let kinds = HTTPMetric.Outcome.Kind.allCases
        let errors = kinds.reduce(0) { $1.isError ? $0 + self[$1] : $0 }
        let ended = count - self[.cancelled] - self[.reset]
        return ended == 0 ? 0 : Double(errors) / Double(ended)
    }

    /// Counts one more request.
    mutating func record(_ kind: HTTPMetric.Outcome.Kind, nanoseconds: Int64) {
        counts[kind.rawValue] += 1
        latency.record(nanoseconds: nanoseconds)
    }

    /// Adds what `other` has counted.
    public mutating func merge(_ other: MetricSummary) {
        latency.merge(other.latency)
        rate += other.rate
        for index in counts.indices { counts[index] += other.counts[index] }
    }
}
