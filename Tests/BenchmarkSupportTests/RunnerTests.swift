import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct RunnerTests {
    private let machine = Machine()
    private var runner: Runner { Runner(plan: .quick, meter: machine.meter, now: { machine.time }) }

    @Test func measurementHasTimeSpreadAndAllocations() {
        let found = runner.measure(Benchmark("a/b", "", setup: machine.work(ns: 125, allocations: 3))).ours
        #expect(found.nanoseconds == 125)
        #expect(found.spread == 0)
        #expect(found.allocations == 3)
        #expect(found.samples.count == Plan.quick.samples)
    }

    @Test func setupRunsOnceAndIsNotMeasured() {
        var setups = 0
        let benchmark = Benchmark("a/b", "") {
            setups += 1
            machine.time += 1e9
            machine.allocations += 1000
            return machine.work(ns: 10)()
        }
        let found = runner.measure(benchmark).ours
        #expect(found.nanoseconds == 10)
        #expect(found.allocations == 0)
        #expect(setups == 1)
    }

    @Test func fixedAllocationsOfRunAreExcluded() {
        let setup = machine.work(ns: 1000, allocations: 2, perRun: (0, 37))
        #expect(runner.measure(Benchmark("a/b", "", setup: setup)).ours.allocations == 2)
    }

    @Test func initialStallDoesNotDistortAllocationCount() {
        var stall = 49e6
        let benchmark = Benchmark("a/b", "") {
            { iterations in
                machine.time += 100 * Double(iterations) + stall
                stall = 0
                // Each of sixteen threads with work allocates for itself.
                machine.allocations += 2 * iterations + 3 * min(iterations, 16)
            }
        }
        #expect(runner.measure(benchmark).ours.allocations == 2)
    }

    @Test func slowOperationIsCountedOnce() {
        let found = runner.measure(Benchmark("a/b", "", setup: machine.work(ns: 1e9, allocations: 7))).ours
        #expect(found.allocations == 7)
        #expect(machine.time < 60e9, "one iteration a sample, and three for each counting")
    }

    @Test func allocationsAreNotAvailableWithoutAMeter() {
        let runner = Runner(plan: .quick, meter: nil, now: { machine.time })
        #expect(runner.measure(Benchmark("a/b", "", setup: machine.work(ns: 1))).ours.allocations == nil)
    }

    @Test func slopeIsCostPerUnit() throws {
        let benchmark = Benchmark.slope(
            "chain/hop", "",
            small: (1, machine.work(ns: 400 + 25, allocations: 5 + 2)),
            large: (101, machine.work(ns: 400 + 101 * 25, allocations: 5 + 101 * 2)))
        let found = runner.measure(benchmark).ours
        #expect(abs(found.nanoseconds - 25) < 0.001)
        #expect(found.allocations == 2)
    }

    @Test func samplesAlternateWithPeer() throws {
        let ours = Benchmark("a/ours", "", peer: "peer/theirs", setup: machine.work("A", ns: 100))
        let theirs = Benchmark("peer/theirs", "", setup: machine.work("B", ns: 400))
        var marks: [Int] = []
        let found = runner.measure(ours, against: theirs) { _ in marks.append(machine.log.count) }

        let sampled = machine.log[marks[0]..<marks[Plan.quick.samples]].suffix(2 * Plan.quick.samples)
        #expect(sampled.joined() == String(repeating: "AB", count: Plan.quick.samples))
        let peer = try #require(found.peer)
        #expect(Statistics.ratio(found.ours.samples, to: peer.samples) == 0.25)
    }
}
