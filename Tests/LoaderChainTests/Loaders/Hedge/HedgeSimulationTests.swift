import BenchmarkSupport
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// What hedging achieves and costs, in simulated time.
@Suite(.timeLimit(.minutes(10))) struct HedgeSimulationTests {
    /// How often requests came, were sent again, and how long they took.
    private struct Outcome {
        let without: HedgeSimulation.Course
        let with: HedgeSimulation.Course
        let snapshot: Hedge.Snapshot
    }

    private func compare(_ simulation: HedgeSimulation, _ settings: Hedge.Settings = Hedge.Settings()) -> Outcome {
        let without = simulation.run()
        var hedge: Hedge?
        let with = simulation.run { timers in
            let made = Hedge(settings, timers: timers)
            hedge = made
            return made
        }
        return Outcome(without: without, with: with, snapshot: hedge?.snapshot ?? Hedge.Snapshot())
    }

    @Test func tailLatencyFallsEightfoldForFivePercentMoreRequests() {
        var simulation = HedgeSimulation()
        simulation.requests = 3_000
        let outcome = compare(simulation)
        let (before, after) = (outcome.without.quantile(0.99), outcome.with.quantile(0.99))
        #expect(before >= after * 8, "\(before), \(after)")
        #expect(Double(outcome.with.sends) <= 1.05 * 3_000, "\(outcome.with.sends)")
        #expect(outcome.with.sends == 3_000 + outcome.snapshot.sent)
        #expect(outcome.snapshot.won + outcome.snapshot.lost == outcome.snapshot.sent)
        #expect(outcome.with.times.count == 3_000)
    }

    @Test(arguments: [0.5, 0.8, 0.95]) func hedgingDoesNotWorsenQueueLatency(load: Double) {
        var simulation = HedgeSimulation.queue(load: load)
        simulation.requests = 2_000
        let outcome = compare(simulation)
        let (before, after) = (outcome.without.quantile(0.99), outcome.with.quantile(0.99))
        #expect(after <= before, "\(before), \(after)")
        #expect(Double(outcome.with.sends) <= 1.05 * 2_000, "\(outcome.with.sends)")
        #expect(outcome.snapshot.sent > 0)
    }

    /// The whole tables, by hand: `HEDGE_TABLE=print swift test -c release --filter HedgeSimulationTests`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["HEDGE_TABLE"] != nil))
    func tablesOfLongRunsArePrinted() {
        var simulations: [(String, HedgeSimulation)] = [("50-60 ms, 2 % at 1-1.2 s", HedgeSimulation())]
        for load in [0.5, 0.8, 0.95, 1.1] { simulations.append(("queue, load \(load)", .queue(load: load))) }
        print("model | p50 | p99 | p99.9 | with a hedge: p50 | p99 | p99.9 | sends | suppressed")
        for (name, simulation) in simulations {
            for seed in 1...3 {
                var simulation = simulation
                simulation.requests = 100_000
                simulation.seed = UInt64(seed)
                let outcome = compare(simulation)
                let times = [outcome.without, outcome.with].flatMap { course in
                    [0.5, 0.99, 0.999].map { "\(course.quantile($0) / .milliseconds(1))" }
                }
                let sends = Double(outcome.with.sends) / 100_000
                print(([name] + times + ["\(sends)", "\(outcome.snapshot.suppressed)"]).joined(separator: " | "))
                #expect(sends <= 1.05)
            }
        }
    }
}
