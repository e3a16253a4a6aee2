/// What a handful of samples say: a middle that a few disturbed samples cannot move, and how far the rest lie from it.
enum Statistics {
    /// The middle value, or the mean of the two middle ones; zero for no values.
    static func median(_ values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The median distance from the median, as a share of it: half of the samples lie within this much of the median.
    ///
    /// Zero where the median is zero, since there is no share of nothing.
    static func spread(_ values: [Double]) -> Double {
        let middle = median(values)
        guard middle != 0 else { return 0 }
        return median(values.map { abs($0 - middle) }) / abs(middle)
    }

    /// The median of the ratios of samples taken side by side, or nothing if a divisor is zero.
    ///
    /// Two samples taken one after the other share the machine's mood, which therefore falls out of their ratio.
    static func ratio(_ samples: [Double], to others: [Double]) -> Double? {
        guard !samples.isEmpty, !others.isEmpty, !others.contains(0) else { return nil }
        return median(zip(samples, others).map(/))
    }

    static func rounded(_ value: Double, places: Int) -> Double {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        return (value * scale).rounded() / scale
    }
}
