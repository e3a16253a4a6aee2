import LoaderChain
import Testing

@testable import MetricKitReporting

@Suite(.timeLimit(.minutes(10))) struct HistogramTests {
    @Test func timeToFirstDrawHasKnownValues() {
        let draw = Known.firstDraw
        #expect(draw.count == 140)
        #expect(rounded(draw.mean(by: .end), 2) == 1867.14)
        #expect(rounded(draw.mean(by: .midpoint), 2) == 1862.14)
        #expect(rounded(draw.median, 1) == 2003.3)
        #expect(rounded(draw.quantile(0.9), 1) == 3005.3)
    }

    @Test func hangTimeHasKnownValues() {
        let hang = Known.hangTime
        #expect(hang.count == 140)
        #expect(rounded(hang.mean(by: .end), 2) == 357.14)
        #expect(rounded(hang.mean(by: .midpoint), 2) == 242.86)
        #expect(hang.median == .milliseconds(200))
        #expect(hang.quantile(0.9) == .milliseconds(560))
        #expect(hang.sum(by: .end) == .seconds(50))
    }

    @Test func emptyHistogramHasNoValues() {
        let empty = Histogram(milliseconds: [(0, 100, 0)])
        #expect(empty.isEmpty && empty.count == 0 && empty.buckets.isEmpty)
        #expect(empty.mean(by: .end) == nil)
        #expect(empty.sum(by: .end) == nil)
        #expect(empty.median == nil)
        #expect(empty.trimmedMean(by: .midpoint) == nil)
        #expect(empty.quantile(0.5) == nil)
        #expect(Histogram(merging: [empty, empty]) == empty)
        #expect(Histogram(merging: [empty, Known.hangTime]) == Known.hangTime)
    }

    @Test func invalidSharesGiveNil() {
        // 90 is not a share: clamped to 1, it would be the maximum.
        for share in [-0.01, 1.01, 90, .nan, .infinity] { #expect(Known.hangTime.quantile(share) == nil) }
        for share in [-0.1, 0.5, .nan] { #expect(Known.hangTime.trimmedMean(by: .end, leavingOut: share) == nil) }
        #expect(Known.hangTime.quantile(0) == .zero)
        #expect(Known.hangTime.quantile(1) == .milliseconds(700))
    }

    @Test func equalBucketsAreMerged() {
        let merged = Histogram(merging: [
            Known.hangTime, Known.hangTime, Histogram(milliseconds: [(100, 400, 1), (0, 50, 2)]),
        ])
        #expect(merged.buckets.map(\.count) == [2, 100, 121, 60])
        #expect(merged.buckets.map(\.end) == [50, 100, 400, 700].map { .milliseconds($0) })
        #expect(merged.count == 283)
        let much = Histogram(milliseconds: [(0, 1, .max), (0, 1, 1), (1, 2, .max)])
        #expect(much.count == .max)
        #expect(much.buckets.map(\.count) == [.max, .max])
    }

    @Test func swappedBoundsAndNegativeCountsAreCorrected() {
        let bucket = Histogram<Double>.Bucket(start: 5, end: 3, count: -2)
        #expect(bucket.start == 3 && bucket.end == 5 && bucket.count == 0)
        let huge = Histogram<Double>([
            .init(start: -.greatestFiniteMagnitude, end: .greatestFiniteMagnitude, count: .max)
        ])
        #expect(huge.sum(by: .end) == nil)
        #expect(huge.mean(by: .end) == nil || huge.mean(by: .end)?.isFinite == true)
        let long = Histogram<Duration>([.init(start: .zero, end: Duration(attoseconds: .max), count: 3)])
        #expect((long.mean(by: .end) ?? .zero) > .seconds(1 << 60))
    }

    @Test func outlierDoesNotMoveTrimmedMean() throws {
        // Nine ordinary resumes, and one bucket from a real payload.
        let resume = Histogram(milliseconds: [(200, 210, 4), (300, 310, 5), (1_190_060, 1_190_070, 1)])
        #expect((resume.mean(by: .midpoint) ?? .zero) > .seconds(100))
        let robust = try #require(resume.trimmedMean(by: .midpoint))
        #expect(robust > .milliseconds(205) && robust < .milliseconds(306))
        #expect(Known.firstDraw.trimmedMean(by: .end, leavingOut: 0) == Known.firstDraw.mean(by: .end))
        // By hand: 0.5 of 4 are left out below and 2 of 5 above, with ten values and a twentieth and a fifth at each end.
        let trimmed = try #require(resume.trimmedMean(by: .end, leavingOut: 0.2))
        #expect(rounded(trimmed, 6) == ((2 * 210 + 4 * 310) / 6.0 * 1e6).rounded() / 1e6)
    }

    @Test func singleValueBucketsGiveExactValues() {
        let bars = Histogram<Double>([
            .init(start: 1, end: 1, count: 20), .init(start: 2, end: 2, count: 30), .init(start: 3, end: 3, count: 50),
        ])
        #expect(bars.mean(by: .midpoint) == 2.3)
        #expect(bars.median == 2)
        #expect(bars.quantile(0.51) == 3)
        #expect(bars.quantile(0.2) == 1)
    }

    @Test func inexactShareDoesNotCrossBucketBorder() {
        for count in 1...99 {
            let values = Histogram<Double>([
                .init(start: 1, end: 1, count: count), .init(start: 2, end: 2, count: 100 - count),
            ])
            #expect(values.quantile(Double(count) / 100) == 1)
        }
    }

    /// Quantiles of random histograms, with gaps and overlaps, compared with the counts of lower values.
    @Test func quantilesAgreeWithCounting() {
        for seed: UInt64 in 0..<2_000 {
            var generator = SeededGenerator(seed: seed)
            let buckets = (0..<Int.random(in: 1...6, using: &generator)).map { _ in
                let start = Double(Int.random(in: 0...20, using: &generator))
                let width = Double(Int.random(in: 0...6, using: &generator))
                return Histogram<Double>.Bucket(
                    start: start, end: start + width, count: Int.random(in: 0...5, using: &generator))
            }
            let histogram = Histogram(buckets)
            let share = Double(Int.random(in: 0...100, using: &generator)) / 100
            guard let value = histogram.quantile(share) else {
                #expect(histogram.isEmpty, "seed \(seed)")
                continue
            }
            /// The number of values at or below a place.
            func below(_ place: Double) -> Double {
                buckets.reduce(0) { sum, bucket in
                    if bucket.end <= place { return sum + Double(bucket.count) }
                    if bucket.start >= place { return sum }
                    return sum + Double(bucket.count) * (place - bucket.start) / (bucket.end - bucket.start)
                }
            }
            let wanted = Double(histogram.count) * share
            let tolerance = 1e-6
            if below(value + tolerance) < wanted - tolerance * 100
                || below(value - tolerance) > wanted + tolerance * 100
            {
                Issue.record("seed \(seed): the quantile \(share) of \(histogram.buckets) is not \(value)")
            }
        }
    }
}
