import LoaderChain
import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct ComparisonTests {
    /// The report of an operation with this cost, on a machine with this noise.
    private func report(cost: Double, noise: Double, samples: Int, random: inout SeededGenerator) -> Report {
        let values = (0..<samples).map { _ in cost * (1 + random.normal(deviation: noise)) }
        let measurement = Measurement(samples: values, allocations: nil)
        let row = Report.Row(Benchmark("a/b", "") { { _ in } }, measurement, peer: nil)
        return Report(host: .example, results: [row])
    }

    private func verdict(slowdown: Double, noise: Double, samples: Int, seed: UInt64) -> Comparison.Verdict? {
        var random = SeededGenerator(seed: seed)
        let before = report(cost: 250, noise: noise, samples: samples, random: &random)
        let after = report(cost: 250 * slowdown, noise: noise, samples: samples, random: &random)
        return Comparison(before: before, after: after).lines.first?.verdict
    }

    @Test(arguments: [0, 0.005, 0.02, 0.03])
    func twentyPercentChangeIsDetectedDespiteNoise(noise: Double) {
        for seed in UInt64(0)..<500 {
            let planted = verdict(slowdown: 1.2, noise: noise, samples: Plan.full.samples, seed: seed)
            #expect(planted == .slower, "noise \(noise), seed \(seed)")
            let quiet = verdict(slowdown: 1, noise: noise, samples: Plan.full.samples, seed: seed)
            #expect(quiet == .same, "noise \(noise), seed \(seed)")
            let faster = verdict(slowdown: 1 / 1.2, noise: noise, samples: Plan.full.samples, seed: seed)
            #expect(faster == .faster, "noise \(noise), seed \(seed)")
        }
    }

    @Test func quickRunDetectsSlowdownWithoutFalseAlarm() {
        for seed in UInt64(0)..<500 {
            let planted = verdict(slowdown: 1.2, noise: 0.01, samples: Plan.quick.samples, seed: seed)
            #expect(planted == .slower, "seed \(seed)")
            let quiet = verdict(slowdown: 1, noise: 0.01, samples: Plan.quick.samples, seed: seed)
            #expect(quiet == .same, "seed \(seed)")
        }
    }

    @Test func verdictNeedsChangeBeyondNoiseAndFivePercent() {
        func verdict(_ before: Double, _ after: Double, spread: Double) -> Comparison.Verdict {
            let old = Report.Row(name: "a/b", nsPerOp: before, spread: spread)
            return Comparison.Line(before: old, after: .init(name: "a/b", nsPerOp: after, spread: spread)).verdict
        }
        #expect(verdict(100, 104.9, spread: 0) == .same)
        #expect(verdict(100, 105.1, spread: 0) == .slower)
        #expect(verdict(100, 94.9, spread: 0) == .faster)
        #expect(verdict(100, 120, spread: 0.05) == .same)
        #expect(verdict(100, 122, spread: 0.05) == .slower)
    }

    @Test func newAndMissingBenchmarksAreReported() {
        func report(_ name: String) -> Report {
            Report(host: .example, results: [Report.Row(name: name, nsPerOp: 1, spread: 0)])
        }
        let comparison = Comparison(before: report("a/old"), after: report("a/new"))
        #expect(comparison.lines.map(\.verdict) == [.new])
        #expect(comparison.missing == ["a/old"])
        #expect(comparison.slower.isEmpty)
    }
}
