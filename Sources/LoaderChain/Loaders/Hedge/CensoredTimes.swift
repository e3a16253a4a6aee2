/// The last response times of one kind of request, of which some are only known to have been longer.
///
/// A time is *censored* if the wait for the response was cut short: the first attempt was cancelled because the second
/// one had won, or the caller gave up. Without these times, only quick responses would be left, the quantile would
/// shrink, more requests would be hedged, and the quantile would shrink further. Kaplan and Meier's estimator uses what
/// is known of them: until its end, a censored time was one of those that took longer.
///
/// The times are kept in order, so that a quantile is one pass over a small array.
struct CensoredTimes: Sendable {
    /// How many times are kept; a new one replaces the oldest.
    static var capacity: Int { 512 }

    private var inOrderOfArrival: [Sample] = []
    private var sorted: [Sample] = []
    private var oldest = 0
    /// How many times that are not censored were recorded, including those that are no longer kept.
    private(set) var completed = 0

    /// A time in microseconds.
    ///
    /// Of equal times, those that are censored come last, as the estimator demands.
    private struct Sample: Comparable, Sendable {
        private let bits: UInt32

        init(_ time: Duration, isCensored: Bool) {
            let microseconds = time.saturatedNanoseconds / 1_000
            bits = UInt32(min(max(0, microseconds), Int64(UInt32.max >> 1))) << 1 | (isCensored ? 1 : 0)
        }

        var isCensored: Bool { bits & 1 == 1 }
        var time: Duration { .microseconds(Int64(bits >> 1)) }

        static func < (left: Sample, right: Sample) -> Bool { left.bits < right.bits }
    }

    /// How many times there are.
    var count: Int { sorted.count }

    /// Adds a time.
    ///
    /// - Parameter isCensored: whether the response would have taken longer.
    mutating func record(_ time: Duration, isCensored: Bool) {
        let sample = Sample(time, isCensored: isCensored)
        if !isCensored, completed < .max { completed += 1 }
        if inOrderOfArrival.count < Self.capacity {
            inOrderOfArrival.append(sample)
        } else {
            sorted.remove(at: position(of: inOrderOfArrival[oldest]))
            inOrderOfArrival[oldest] = sample
            oldest = (oldest + 1) % Self.capacity
        }
        sorted.insert(sample, at: position(of: sample))
    }

    /// The time that a share of the responses does not exceed, from 0 to 1; nil if there are no times.
    ///
    /// If so many of the longest times are censored that nothing is known about that share, it is the longest time.
    func quantile(_ share: Double) -> Duration? {
        // Survival, the share of responses that take longer than the present one, is `factor * (atRisk - 1)`.
        var factor = 1 / Double(sorted.count)
        var atRisk = Double(sorted.count)
        // A rounding error must not exclude the sample that is meant.
        let target = 1 - share + 1e-9
        for sample in sorted {
            if sample.isCensored {
                factor *= atRisk / max(1, atRisk - 1)
            } else if factor * (atRisk - 1) <= target {
                return sample.time
            }
            atRisk -= 1
        }
        return sorted.last?.time
    }

    /// The first position at which a sample is not less than this one.
    private func position(of sample: Sample) -> Int {
        var range = sorted.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = sorted[middle] < sample ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
