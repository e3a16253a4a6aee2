import Testing

@testable import BenchmarkSupport

/// The simulation of limits, compared with queueing theory, and the report on it.
@Suite(.timeLimit(.minutes(10))) struct LimitTests {
    private func run(capacity: Int, _ limits: Int..., change: (inout LimitSimulation) -> Void = { _ in }) -> LimitCourse
    {
        var simulation = LimitSimulation()
        simulation.capacity = .init(capacity)
        simulation.seconds = 12
        simulation.countedFrom = 2
        change(&simulation)
        return simulation.run(limits.map(FixedLimit.init))
    }

    @Test func limitAtCapacityUsesItFullyWithoutQueue() {
        let course = run(capacity: 5, 5)
        #expect(abs(course.use - 1) < 0.02)
        #expect(course.meanLimit == 5)
        #expect(course.moments.allSatisfy { $0.queue == 0 })
    }

    @Test func halfLimitUsesHalfAndDoubleLimitQueues() {
        #expect(abs(run(capacity: 8, 4).use - 0.5) < 0.02)
        let course = run(capacity: 8, 16)
        #expect(abs(course.use - 1) < 0.02)
        #expect(course.moments.allSatisfy { $0.queue == 8 })
    }

    @Test func limitsOfClientsAddUp() {
        let course = run(capacity: 8, 4, 12)
        #expect(course.meanLimits == [4, 12])
        #expect(course.moments.last?.queue == 8)
        // The second one comes later.
        let joined = run(capacity: 8, 8, 4) { $0.joiningInterval = 5 }
        #expect(joined.second(from: 0) { $0.queue > 0 }.map { (5...5.3).contains($0) } == true)
    }

    @Test func variationKeepsMeanServiceTime() {
        for variation in [0.5, 1] {
            // Nothing waits, so the use shows the mean of the service: it is what was asked for.
            let course = run(capacity: 100, 50) { $0.variation = variation }
            #expect(abs(course.use - 0.5) < 0.02, "\(variation): \(course.use)")
        }
    }

    @Test func sameSeedGivesSameCourse() {
        func course(_ seed: UInt64) -> [Int] {
            var simulation = LimitSimulation()
            simulation.variation = 1
            simulation.seconds = 5
            simulation.seed = seed
            return simulation.run([AdaptiveSimulatedLimit(initial: 4)]).moments.map { $0.limits[0] }
        }
        #expect(course(1) == course(1))
        #expect(course(1) != course(2))
    }

    @Test func queueNeverExceedsLongestQueue() {
        let course = run(capacity: 2, 10) { $0.longestQueue = 3 }
        #expect(course.moments.allSatisfy { $0.queue <= 3 })
        #expect(abs(course.use - 1) < 0.02)
    }

    @Test func callersAreServedWithinTheirPatience() {
        // All that can be answered in time is, with half of the capacity and with three times as much to do.
        for rate in [25.0, 150] {
            let course = run(capacity: 5, 5) {
                $0.callers = .init(rate: .init(rate), patience: 0.25)
                $0.seconds = 60
            }
            #expect(course.use >= 0.9, "\(rate) a second: \(course.use)")
        }
    }

    /// What the limit must hold without chance in the service; the table has the rest.
    @Test(arguments: [
        LimitTrial.Kind.steady, .stepDown, .slower, .failing, .quiet, .hurried, .hurriedStepDown, .hurriedSlower,
        .leavingSlower, .leaving, .leavingMore, .straying, .mixed,
    ])
    func adaptiveLimitHoldsInEveryTrialWithoutVariation(kind: LimitTrial.Kind) {
        let findings = LimitTrial(kind: kind, capacity: 20, variation: 0).run(AdaptiveSimulatedLimit.self, seed: 1)
        #expect(!findings.isEmpty)
        #expect(findings.allSatisfy { $0.holds }, "\(findings)")
    }

    @Test func reportCountsHeldTrialsAndNamesDefeats() {
        let trials = [LimitTrial(kind: .steady, capacity: 5, variation: 0)]
        let report = LimitReport(seeds: 1, trials: trials) { _ in }
        #expect(report.tables.count == 1)
        #expect(report.totals.count == 4 && report.totals[0] == 1)
        #expect(report.sum.markdown().count == 4)
        #expect(report.lines(.limitSum, []) == report.sum.markdown())
        #expect(report.lines(.limitDefeats, []) == ["None of the others is better in any trial."])
        #expect(report.lines(.fleet, []) == nil)
    }
}

/// A limit that stays.
private struct FixedLimit: SimulatedLimit {
    static let name = "fixed"
    let current: Int

    init(initial: Int) { current = initial }

    mutating func begin() -> UInt32 { 0 }

    mutating func end(_ request: EndedRequest, at now: Double) {}
}
