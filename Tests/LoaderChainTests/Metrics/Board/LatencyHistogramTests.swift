import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct LatencyHistogramTests {
    @Test func repeatedMergesSaturateCountAndKeepStatistics() {
        var histogram = LatencyHistogram()
        histogram.record(.milliseconds(1))
        histogram.record(.milliseconds(3))
        for _ in 0..<200 { histogram.merge(histogram) }
        #expect(histogram.count == 1 << 62)
        #expect(histogram.mean == .milliseconds(2))
        #expect(histogram.quantile(1) == .milliseconds(3))
        #expect(histogram.quantile(0.5) != nil)
        histogram.record(.milliseconds(5))
        #expect(histogram.maximum == .milliseconds(5))

        var summary = MetricSummary()
        summary.record(.success, nanoseconds: 1)
        summary.record(.serverError, nanoseconds: 1)
        summary.record(.cancelled, nanoseconds: 1)
        for _ in 0..<200 { summary.merge(summary) }
        #expect(summary[.success] == .max)
        #expect(summary.errorRatio == 0.5)
    }

    /// Distributions as latencies have them, and unexpected ones.
    enum Shape: CaseIterable, Sendable {
        case uniform, exponential, twoPeaks, heavyTail, allEqual, powersOfTwo

        func sample(_ generator: inout SeededGenerator) -> Int64 {
            let unit = max(Double.random(in: 0..<1, using: &generator), 1e-9)
            switch self {
            case .uniform: return Int64(unit * 1e9)
            case .exponential: return Int64(-logarithm(unit) * 5e7)
            case .twoPeaks: return Int64((unit < 0.7 ? 2e6 : 8e8) * (1 + unit / 10))
            case .heavyTail: return Int64(min(1e6 / unit, 4e12))
            case .allEqual: return 123_456_789
            case .powersOfTwo: return 1 << Int64(unit * 42)
            }
        }

        /// The natural logarithm, as the tests need no more of a mathematics library.
        private func logarithm(_ unit: Double) -> Double {
            var value = unit
            var exponent = 0.0
            while value < 0.5 {
                value *= 2
                exponent -= 1
            }
            let t = (value - 1) / (value + 1)
            return 2 * (t + t * t * t / 3 + t * t * t * t * t / 5) + exponent * 0.693_147_180_56
        }
    }

    private static let parts = [0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1]

    /// What is wrong with the histogram of these values; nil if nothing is.
    private func fault(in histogram: LatencyHistogram, of values: [Int64]) -> String? {
        let sorted = values.sorted()
        guard histogram.count == sorted.count else { return "count \(histogram.count)" }
        guard histogram.maximum == .nanoseconds(sorted[sorted.count - 1]) else { return "maximum" }
        guard histogram.minimum == .nanoseconds(sorted[0]) else { return "minimum" }
        let mean = sorted.reduce(Int128(0)) { $0 + Int128($1) } / Int128(sorted.count)
        guard histogram.mean == .nanoseconds(Int64(mean)) else { return "mean" }
        for part in Self.parts {
            let rank = max(1, Int((part * Double(sorted.count)).rounded(.up)))
            let exact = Double(sorted[rank - 1])
            let told = Double(histogram.quantile(part)?.saturatedNanoseconds ?? -1)
            let allowed = max(exact / 64, 600)
            if abs(told - exact) > allowed { return "p\(part) is \(told), and was \(exact)" }
        }
        return nil
    }

    @Test(arguments: Shape.allCases)
    func quantilesStayWithinRelativeError(shape: Shape) {
        takeWalks(seeds: 0..<20) { seed in
            var generator = SeededGenerator(seed: seed)
            var histogram = LatencyHistogram()
            let values = (0..<Int.random(in: 1...3_000, using: &generator)).map { _ in shape.sample(&generator) }
            for value in values { histogram.record(.nanoseconds(value)) }
            return fault(in: histogram, of: values)
        }
    }

    @Test func mergedHistogramsHaveStatisticsOfAllValues() {
        takeWalks(seeds: 0..<60) { seed in
            var generator = SeededGenerator(seed: seed)
            var all: [Int64] = []
            var merged = LatencyHistogram()
            for shape in Shape.allCases.shuffled(using: &generator).prefix(3) {
                var part = LatencyHistogram()
                for _ in 0..<Int.random(in: 0...300, using: &generator) {
                    let value = shape.sample(&generator)
                    all.append(value)
                    part.record(.nanoseconds(value))
                }
                merged.merge(part)
            }
            return all.isEmpty ? nil : fault(in: merged, of: all)
        }
    }

    @Test func errorIsBoundedInEveryOctave() {
        for bits in 0..<42 {
            for offset in stride(from: 0, to: 64, by: 7) {
                let value = (Int64(1) << Int64(bits)) + (Int64(offset) << Int64(max(0, bits - 6)))
                var histogram = LatencyHistogram()
                for other in [value, value, value + (value >> 7), 4_000_000_000_000] {
                    histogram.record(.nanoseconds(other))
                }
                let told = Double(histogram.quantile(0.5)?.saturatedNanoseconds ?? -1)
                #expect(abs(told - Double(value)) <= max(Double(value) / 64, 600), "\(value) was told as \(told)")
            }
        }
    }

    @Test func valuesOutOfRangeAreCountedWithoutTrap() {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil && histogram.mean == nil && histogram.maximum == nil)
        for duration in [.seconds(-5), Duration.zero, .seconds(1 << 60), .nanoseconds(Int64.max)] {
            histogram.record(duration)
        }
        #expect(histogram.count == 4)
        #expect(histogram.minimum == .zero && histogram.maximum == .nanoseconds(Int64.max))
        #expect(histogram.quantile(0) == .zero && histogram.quantile(1) == .nanoseconds(Int64.max))
        #expect((histogram.mean ?? .zero) > .seconds(1_000_000))
    }

    @Test func quantileIsValueThatShareEndsWith() {
        // 0.07 * 100 is 7.000000000000001, and yet 7 of 100 values are 0.07 of them.
        for fast in 1..<100 {
            var histogram = LatencyHistogram()
            for index in 0..<100 { histogram.record(index < fast ? .milliseconds(1) : .seconds(1)) }
            let share = Double(fast) / 100
            #expect((histogram.quantile(share) ?? .zero) < .milliseconds(2), "\(share)")
            #expect((histogram.quantile(share + 0.001) ?? .zero) > .milliseconds(900), "\(share)")
        }
    }

    @Test(arguments: [90, 1.0.nextUp, -0.1, -Double.leastNonzeroMagnitude, .infinity, -.infinity, .nan])
    func invalidShareHasNoQuantile(share: Double) {
        var histogram = LatencyHistogram()
        histogram.record(.milliseconds(3))
        #expect(histogram.quantile(share) == nil)
    }
}
