// Histogram: histograms, their means and quantiles. Depends on no other folder; Reading and later folders may use it.

/// The value that represents all values of a bucket.
public enum BucketValue: Sendable, Hashable, CaseIterable {
    /// The upper bound. The mean is never too low, and on average half a bucket too high.
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

    /// The sum of all values; nil if there are none.
    public func sum(by rule: BucketValue) -> Bound? {
        guard !isEmpty else { return nil }
        return Self.bound(buckets.reduce(0) { $0 + value(of: $1, rule) * Double($1.count) })
    }

    /// The mean of all values; nil if there are none.
    ///
    /// - Parameter rule: the value that represents a bucket.
    public func mean(by rule: BucketValue) -> Bound? { trimmedMean(by: rule, leavingOut: 0) }

    /// The trimmed mean, which a few outliers do not move; nil if there are no values.
    ///
    /// One hang of twenty minutes makes the mean of all launches meaningless. The trimmed mean leaves out a share
    /// of the values at either end; with a quarter at each, it is the mean of the middle half, and tolerates
    /// a quarter of outliers.
    ///
    /// - Parameters:
    ///   - rule: the value that represents a bucket.
    ///   - share: the share that is left out at either end, from 0 to less than 0.5.
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
