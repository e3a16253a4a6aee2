/// Robust statistics of a few samples: a middle that some disturbed samples do not move, and how far the rest lie from it.
enum Statistics {
    /// The middle value, or the mean of the two middle ones; zero for no values.
    static func median(_ values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The median distance from the median, relative to the median, or zero if that is zero: half of the samples lie within it.
    static func spread(_ values: [Double]) -> Double {
        let middle = median(values)
        guard middle != 0 else { return 0 }
        return median(values.map { abs($0 - middle) }) / abs(middle)
    }

    /// The median of the ratios of samples taken side by side; nil if a divisor is zero.
    ///
    /// Other load on the machine affects both of two neighbouring samples, and so cancels out in their ratio.
    static func ratio(_ samples: [Double], to others: [Double]) -> Double? {
        guard !samples.isEmpty, !others.isEmpty, !others.contains(0) else { return nil }
        return median(zip(samples, others).map(/))
    }

    static func rounded(_ value: Double, places: Int) -> Double {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        return (value * scale).rounded() / scale
    }
}
