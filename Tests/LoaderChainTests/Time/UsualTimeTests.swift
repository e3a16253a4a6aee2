import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct UsualTimeTests {
    private func learned(_ times: [Duration]) -> UsualTime {
        var usual = UsualTime()
        for time in times { usual.learn(time) }
        return usual
    }

    @Test func estimateIsNilBelowEightSamples() {
        #expect(learned(Array(repeating: .seconds(1), count: 7)).estimate == nil)
        #expect(learned(Array(repeating: .seconds(1), count: 8)).estimate != nil)
    }

    @Test func estimateOfConstantTimesIsThatTime() throws {
        let usual = try #require(learned(Array(repeating: .milliseconds(100), count: 60)).estimate)
        #expect(usual >= .milliseconds(100) && usual < .milliseconds(101))
    }

    /// The share of times below the estimate, in walks of 200 times each.
    @Test(arguments: ["even", "exponential", "two kinds"])
    func estimateExceedsMostTimes(_ kind: String) {
        func draw(_ random: inout SeededGenerator) -> Double {
            let chance = Double.random(in: 0..<1, using: &random)
            switch kind {
            case "even": return 0.5 + chance
            case "exponential": return -(1 - chance).logarithm
            default: return chance < 0.8 ? 0.5 : 3
            }
        }
        var below = 0
        let (walks, times) = (50, 200)
        for seed in 0..<UInt64(walks) {
            var random = SeededGenerator(seed: seed)
            var usual = UsualTime()
            for _ in 0..<times {
                let time = Duration.seconds(draw(&random))
                if let estimate = usual.estimate, time <= estimate { below += 1 }
                usual.learn(time)
            }
        }
        let share = Double(below) / Double(walks * (times - UsualTime.fewestSamples))
        #expect(share > 0.8 && share < 1, "\(kind): \(share)")
    }

    @Test func estimateFollowsChange() throws {
        var usual = learned(Array(repeating: .milliseconds(100), count: 20))
        for _ in 0..<10 { usual.learn(.seconds(1)) }
        let raised = try #require(usual.estimate)
        #expect(raised > .milliseconds(900))
        for _ in 0..<20 { usual.learn(.milliseconds(100)) }
        let lowered = try #require(usual.estimate)
        #expect(lowered < .milliseconds(500))
    }

    @Test func unfinishedTimeCountsOnlyIfLongerThanEstimate() throws {
        var usual = learned(Array(repeating: .milliseconds(100), count: 20))
        let before = try #require(usual.estimate)
        for _ in 0..<20 { usual.learn(unfinishedAfter: .milliseconds(50)) }
        #expect(usual.estimate == before)
        for _ in 0..<20 { usual.learn(unfinishedAfter: .milliseconds(300)) }
        let raised = try #require(usual.estimate)
        #expect(raised > .milliseconds(200))
    }

    @Test func shortUnfinishedTimesDoNotCountAsSamples() {
        var usual = learned(Array(repeating: .milliseconds(100), count: 3))
        for _ in 0..<20 { usual.learn(unfinishedAfter: .milliseconds(50)) }
        #expect(usual.estimate == nil)
        // What took longer than is usual is known to have taken at least that long.
        for _ in 0..<5 { usual.learn(unfinishedAfter: .seconds(1)) }
        #expect(usual.estimate.map { $0 > .milliseconds(400) } == true)
    }

    @Test func extremeTimesDoNotOverflow() {
        let longest = Duration(attoseconds: .max)
        var usual = learned(Array(repeating: longest, count: 9) + [.zero, .seconds(-1), Duration(attoseconds: .min)])
        usual.learn(unfinishedAfter: longest)
        #expect(usual.estimate != nil)
    }
}

extension Double {
    /// The natural logarithm, good enough for chance.
    var logarithm: Double {
        // By halves: ln x = 2 ln √x, and near 1 the first terms of the series.
        if abs(self - 1) > 0.01 { return 2 * squareRoot().logarithm }
        let rest = self - 1
        return rest - rest * rest / 2 + rest * rest * rest / 3
    }
}
