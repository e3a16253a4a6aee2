/// A section of a payload with one main histogram.
public protocol HistogrammedTimeMetric: Sendable {
    /// The main histogram.
    var histogram: Histogram<Duration>? { get }
}

extension HistogrammedTimeMetric {
    /// The mean of the histogram; nil if nothing was observed.
    ///
    /// - Parameter rule: the value that represents a bucket.
    public func average(by rule: BucketValue = .end) -> Duration? { histogram?.mean(by: rule) }
}
