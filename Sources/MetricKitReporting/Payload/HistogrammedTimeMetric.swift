/// A section of a payload that is about one histogram above all.
public protocol HistogrammedTimeMetric: Sendable {
    /// The histogram.
    var histogram: Histogram<Duration>? { get }
}

extension HistogrammedTimeMetric {
    /// The mean of the histogram; nil if nothing was observed.
    ///
    /// - Parameter rule: which value stands for those of a bucket.
    public func average(by rule: BucketValue = .end) -> Duration? { histogram?.mean(by: rule) }
}
