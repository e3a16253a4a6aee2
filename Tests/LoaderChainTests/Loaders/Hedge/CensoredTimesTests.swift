import Testing

@testable import LoaderChain

/// The estimator of a quantile from times of which some are only lower bounds.
@Suite(.timeLimit(.minutes(10))) struct CensoredTimesTests {
    private struct Sample {
        let time: Int
        let isCensored: Bool
    }

    /// The definition, time by time: the share that survives each is the product of what survived each before.
    private func naiveQuantile(_ share: Double, of samples: [Sample]) -> Int? {
        var survival = 1.0
        for time in Set(samples.map(\.time)).sorted() {
            let atRisk = samples.count { $0.time >= time }
            let ended = samples.count { $0.time == time && !$0.isCensored }
            survival *= 1 - Double(ended) / Double(atRisk)
            if ended > 0, survival <= 1 - share + 1e-9 { return time }
        }
        return samples.map(\.time).max()
    }

    @Test func quantileAgreesWithTheDefinition() {
        takeWalks(seeds: 0..<200) { seed in
            var random = SeededGenerator(seed: seed)
            var times = CensoredTimes()
            var samples: [Sample] = []
            let longest = [3, 50, 100_000][Int(seed % 3)]
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let isCensored = Int.random(in: 0..<4, using: &random) == 0
                let sample = Sample(time: Int.random(in: 0...longest, using: &random), isCensored: isCensored)
                samples.append(sample)
                times.record(.milliseconds(sample.time), isCensored: sample.isCensored)
            }
            for share in [0, 0.1, 0.5, 0.9, 0.95, 0.99, 1] {
                let expected = naiveQuantile(share, of: samples).map { Duration.milliseconds($0) }
                let found = times.quantile(share)
                if found != expected { return "\(share): \(found ?? .zero), not \(expected ?? .zero)" }
            }
            return times.completed == samples.count { !$0.isCensored } ? nil : "\(times.completed) completed"
        }
    }

    @Test func quantileUsesOnlyLatestTimes() {
        var times = CensoredTimes()
        for _ in 0..<CensoredTimes.capacity { times.record(.seconds(5), isCensored: false) }
        #expect(times.quantile(0.5) == .seconds(5))
        for number in 1...CensoredTimes.capacity { times.record(.milliseconds(number), isCensored: number % 7 == 0) }
        #expect(times.count == CensoredTimes.capacity)
        #expect(times.quantile(1) ?? .zero <= .milliseconds(CensoredTimes.capacity))
        #expect(times.completed == 2 * CensoredTimes.capacity - CensoredTimes.capacity / 7)
    }

    @Test func emptyTimesHaveNoQuantileAndExtremesAreClamped() {
        var times = CensoredTimes()
        #expect(times.quantile(0.95) == nil)
        times.record(.seconds(-1), isCensored: false)
        #expect(times.quantile(0.95) == .zero)
        times.record(.seconds(Int64.max), isCensored: true)
        // More than half an hour is as good as any longer time.
        #expect(times.quantile(1) ?? .zero > .seconds(2_000))
        #expect(times.quantile(0.5) == .zero)
    }

    /// The reason for all of this: without the censored times, the delay would eat itself.
    @Test(arguments: [true, false]) func censoredTimesKeepTheQuantileStable(keepsCensored: Bool) {
        var random = SeededGenerator(seed: 3)
        var times = CensoredTimes()
        for number in 0..<512 { times.record(.milliseconds(number % 100), isCensored: false) }
        var hedged = 0
        let requests = 4_000
        for _ in 0..<requests {
            let delay = times.quantile(0.95) ?? .zero
            let (first, second) = (Int.random(in: 0..<100, using: &random), Int.random(in: 0..<3, using: &random))
            let cut = delay + .milliseconds(second)
            if .milliseconds(first) > delay { hedged += 1 }
            if .milliseconds(first) > cut {
                if keepsCensored { times.record(cut, isCensored: true) }
            } else {
                times.record(.milliseconds(first), isCensored: false)
            }
        }
        let share = Double(hedged) / Double(requests)
        #expect(keepsCensored ? (0.03...0.07).contains(share) : share > 0.15, "\(share)")
    }
}
