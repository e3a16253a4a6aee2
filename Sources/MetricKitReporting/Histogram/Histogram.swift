/// The type of a histogram's values: durations or numbers.
public protocol HistogramBound: Comparable, Hashable, Sendable {
    /// The value as a number.
    var histogramNumber: Double { get }
    /// Makes a value from a finite number.
    init(histogramNumber: Double)
}

extension Duration: HistogramBound {
    /// The duration in seconds.
    public var histogramNumber: Double { Double(attoseconds) / 1e18 }

    /// Makes a duration from seconds, rounded to the nearest nanosecond.
    ///
    /// A double has no more digits than that for the times that are measured here, so `0.2` seconds become 200 milliseconds, and
    /// not a trillionth of a second less.
    public init(histogramNumber seconds: Double) {
        let nanoseconds = (seconds * 1e9).rounded()
        self =
            abs(nanoseconds) < 9e18 ? .nanoseconds(Int64(nanoseconds)) : .seconds(Int64(max(-9e18, min(9e18, seconds))))
    }
}

extension Double: HistogramBound {
    /// The number.
    public var histogramNumber: Double { self }
    /// Makes the number.
    public init(histogramNumber: Double) { self = histogramNumber }
}

/// A histogram: how many values were observed between which bounds.
///
/// ```swift
/// let launches = Histogram<Duration>([
///     .init(start: .milliseconds(1000), end: .milliseconds(1010), count: 50),
///     .init(start: .milliseconds(2000), end: .milliseconds(2010), count: 60),
///     .init(start: .milliseconds(3000), end: .milliseconds(3010), count: 30),
/// ])
/// print(launches.mean(by: .end)!)  // 1.867142857 seconds
/// print(launches.median!)  // 2.003333333 seconds
/// ```
///
/// The buckets are ordered by their bounds, no two have the same bounds, and none is empty.
public struct Histogram<Bound: HistogramBound>: Sendable, Hashable {
    /// The number of values between two bounds.
    public struct Bucket: Sendable, Hashable {
        /// The lower bound.
        public let start: Bound
        /// The upper bound.
        public let end: Bound
        /// The number of values.
        public let count: Int

        /// Makes a bucket; bounds in the wrong order are swapped, and a negative count becomes zero.
        ///
        /// - Parameters:
        ///   - start: the lower bound.
        ///   - end: the upper bound.
        ///   - count: the number of values.
        public init(start: Bound, end: Bound, count: Int) {
            self.start = min(start, end)
            self.end = max(start, end)
            self.count = max(count, 0)
        }
    }

    /// The buckets that are not empty, in the order of their bounds.
    public let buckets: [Bucket]
    /// The number of values.
    public let count: Int

    /// Takes buckets in any order; the counts of those with equal bounds are added.
    public init(_ buckets: some Sequence<Bucket>) {
        let sorted = buckets.filter { $0.count > 0 }.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
        var merged: [Bucket] = []
        merged.reserveCapacity(sorted.count)
        for bucket in sorted {
            if let last = merged.last, last.start == bucket.start, last.end == bucket.end {
                merged[merged.count - 1] = Bucket(
                    start: last.start, end: last.end, count: Self.sum(last.count, bucket.count))
            } else {
                merged.append(bucket)
            }
        }
        self.buckets = merged
        count = merged.reduce(0) { Self.sum($0, $1.count) }
    }

    /// Whether there are no values.
    public var isEmpty: Bool { buckets.isEmpty }

    /// The sum; one that overflows becomes the largest integer.
    private static func sum(_ first: Int, _ second: Int) -> Int {
        let (sum, overflow) = first.addingReportingOverflow(second)
        return overflow ? .max : sum
    }
}
