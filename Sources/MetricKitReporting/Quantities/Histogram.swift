import LoaderChain

/// A histogram: the numbers of values between pairs of bounds.
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

        /// Creates a bucket; bounds in the wrong order are swapped, and a negative count becomes zero.
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

    /// Creates a histogram from buckets in any order; the counts of buckets with equal bounds are added.
    public init(_ buckets: some Sequence<Bucket>) {
        let sorted = buckets.filter { $0.count > 0 }.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
        var merged: [Bucket] = []
        merged.reserveCapacity(sorted.count)
        for bucket in sorted {
            if let last = merged.last, last.start == bucket.start, last.end == bucket.end {
                merged[merged.count - 1] = Bucket(
                    start: last.start, end: last.end, count: last.count.addingClamped(bucket.count))
            } else {
                merged.append(bucket)
            }
        }
        self.buckets = merged
        count = merged.reduce(0) { $0.addingClamped($1.count) }
    }

    /// Whether the histogram has no values.
    public var isEmpty: Bool { buckets.isEmpty }
}

/// The value that represents all values of a bucket.
public enum BucketValue: Sendable, Hashable, CaseIterable {
    /// The upper bound. The mean is never too low, and on average too high by half a bucket.
    case end
    /// The midpoint between the bounds.
    case midpoint
}

extension Histogram {
    private func value(of bucket: Bucket, _ rule: BucketValue) -> Double {
        let end = bucket.end.histogramNumber
        switch rule {
        case .end: return end
        case .midpoint:
            let start = bucket.start.histogramNumber
            return start + (end - start) / 2
        }
    }

    /// Returns the sum of all values; nil for an empty histogram.
    public func sum(by rule: BucketValue) -> Bound? {
        guard !isEmpty else { return nil }
        return Self.bound(buckets.reduce(0) { $0 + value(of: $1, rule) * Double($1.count) })
    }

    /// Returns the mean of all values; nil for an empty histogram.
    ///
    /// - Parameter rule: the value that represents a bucket.
    public func mean(by rule: BucketValue) -> Bound? { trimmedMean(by: rule, leavingOut: 0) }

    /// Returns the trimmed mean, which is robust against outliers; nil for an empty histogram.
    ///
    /// One hang of twenty minutes makes the mean of all launches meaningless. The trimmed mean leaves out a share
    /// of the values at either end; with a quarter at each, it is the mean of the middle half, and tolerates
    /// a quarter of outliers.
    ///
    /// - Parameters:
    ///   - rule: the value that represents a bucket.
    ///   - share: the share to leave out at either end, from 0 to less than 0.5.
    public func trimmedMean(by rule: BucketValue, leavingOut share: Double = 0.25) -> Bound? {
        guard !isEmpty, share >= 0, share < 0.5 else { return nil }
        let all = Double(count)
        let kept = (all * share)...(all * (1 - share))
        var (passed, weight, sum) = (0.0, 0.0, 0.0)
        let values = buckets.map { (value: value(of: $0, rule), count: Double($0.count)) }.sorted {
            $0.value < $1.value
        }
        for (value, count) in values {
            let part = min(passed + count, kept.upperBound) - max(passed, kept.lowerBound)
            passed += count
            guard part > 0 else { continue }
            weight += part
            sum += value * part
        }
        return weight > 0 ? Self.bound(sum / weight) : nil
    }

    static func bound(_ number: Double) -> Bound? { number.isFinite ? Bound(histogramNumber: number) : nil }
}

// A quantile over several payloads is that of the merged histogram: quantiles themselves are never merged.
extension Histogram {
    /// Merges several histograms: the counts of equal buckets are added, and all other buckets are kept.
    ///
    /// Compute quantiles and means from the result; those of several histograms cannot be merged.
    public init(merging histograms: some Sequence<Histogram>) { self.init(histograms.flatMap(\.buckets)) }

    /// The quantile 0.5; nil for an empty histogram.
    public var median: Bound? { quantile(0.5) }

    /// Returns the value that a share of the values does not exceed; nil for an empty histogram.
    ///
    /// The values of a bucket are assumed to be evenly distributed between its bounds. If buckets of several systems overlap, each
    /// contributes its part between two bounds.
    ///
    /// - Parameter share: the share from 0 to 1, such as 0.9; the result is nil for any other number, including NaN.
    public func quantile(_ share: Double) -> Bound? {
        guard let wanted = QuantileRank(of: share, among: count)?.position else { return nil }
        var passed = 0.0
        for group in overlapping {
            let count = group.reduce(0) { $0 + Double($1.count) }
            // A value on the border of two groups belongs to the lower one.
            if passed + count >= wanted || group.endIndex == buckets.endIndex {
                return Self.bound(Self.value(at: wanted - passed, in: group))
            }
            passed += count
        }
        return nil
    }

    private var overlapping: [ArraySlice<Bucket>] {
        var groups: [ArraySlice<Bucket>] = []
        var start = buckets.startIndex
        var end = buckets[start].end
        for (index, bucket) in buckets.enumerated().dropFirst() {
            if bucket.start >= end {
                groups.append(buckets[start..<index])
                start = index
            }
            end = max(end, bucket.end)
        }
        groups.append(buckets[start...])
        return groups
    }

    /// Returns the value below which `wanted` values of overlapping buckets lie.
    private static func value(at wanted: Double, in group: ArraySlice<Bucket>) -> Double {
        // The places at which the density of values changes, and the numbers of values exactly there.
        var changes: [(place: Double, density: Double, atOnce: Double)] = []
        for bucket in group {
            let (start, end) = (bucket.start.histogramNumber, bucket.end.histogramNumber)
            let width = end - start
            if width > 0 {
                let density = Double(bucket.count) / width
                changes.append((start, density, 0))
                changes.append((end, -density, 0))
            } else {
                changes.append((start, 0, Double(bucket.count)))
            }
        }
        changes.sort { $0.place < $1.place }
        var place = changes[0].place
        var (passed, density) = (0.0, 0.0)
        for change in changes {
            let next = passed + density * (change.place - place)
            if next >= wanted, density > 0 { return min(place + (wanted - passed) / density, change.place) }
            passed = next + change.atOnce
            place = change.place
            if passed >= wanted { return place }
            density += change.density
        }
        return place
    }
}

/// The type of a histogram's values: durations or numbers.
public protocol HistogramBound: Comparable, Hashable, Sendable {
    /// The value as a number.
    var histogramNumber: Double { get }
    /// Creates a value from a finite number.
    init(histogramNumber: Double)
}

extension Duration: HistogramBound {
    /// The duration in seconds.
    public var histogramNumber: Double { Double(attoseconds) / 1e18 }

    /// Creates a duration from seconds, rounded to the nearest nanosecond; beyond 285 years, cut to whole seconds.
    ///
    /// A double has no higher precision for the times that are measured here, so `0.2` becomes 200 milliseconds, and not a
    /// trillionth of a second less.
    public init(histogramNumber seconds: Double) {
        let nanoseconds = (seconds * 1e9).rounded()
        self =
            abs(nanoseconds) < 9e18 ? .nanoseconds(Int64(nanoseconds)) : .seconds(Int64(max(-9e18, min(9e18, seconds))))
    }
}

extension Double: HistogramBound {
    /// The number.
    public var histogramNumber: Double { self }
    /// Creates the number.
    public init(histogramNumber: Double) { self = histogramNumber }
}
