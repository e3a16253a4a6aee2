import LoaderChainPlatformFoundation
import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct ProgramTests {
    private let desk = Desk()

    @Test func runPrintsTableAndSucceeds() {
        desk.suite.add(
            "throttle/uncontended", "Takes a turn.", peer: "peer/queue", limit: .nanoseconds(150), allocations: 2,
            setup: desk.machine.work(ns: 100, allocations: 2))
        desk.suite.add("encode/point", "Encodes.", limit: .nanoseconds(10), bytes: 64, setup: desk.machine.work(ns: 32))
        desk.suite.add("peer/queue", "Theirs.", setup: desk.machine.work(ns: 1250, allocations: 7))
        #expect(desk.run("--quick") == 0)
        #expect(
            desk.text == """
                Abacus, 2 cores, Wood, Swift 6.0
                Medians of 5 samples of 5 ms; half of them lie within the spread.

                  benchmark                ns/op   spread   allocs/op    MB/s   peer                ratio   limit
                  ────────────────────   ───────   ──────   ─────────   ─────   ──────────   ────────────   ────────────────   ──────
                  throttle/uncontended     100.0    ±0.0%           2           peer/queue   12.5× faster   150 ns, 2 allocs   met

                  encode/point              32.0    ±0.0%           0   2,000                               10 ns              MISSED
                  peer/queue             1,250      ±0.0%           7

                1 of 2 limits missed: encode/point.
                """)
    }

    @Test func missedTimePassesAndExcessAllocationFails() {
        desk.suite.add("a/b", "", limit: .nanoseconds(1), setup: desk.machine.work(ns: 100, allocations: 2))
        #expect(desk.run("--quick") == 0)
        desk.files[Program.limitsPath] = Data("a/b 2".utf8)
        #expect(desk.run("--quick", "--check-allocations") == 0)
        desk.files[Program.limitsPath] = Data("a/b 1".utf8)
        #expect(desk.run("--quick", "--check-allocations") == 1)
        desk.files[Program.limitsPath] = Data("a/b 2\na/c 2".utf8)
        #expect(desk.run("--quick", "--check-allocations") == 1)
        #expect(
            desk.complaints == [
                "a/b makes 2 allocations, 1 are allowed.", "a/c has a limit, but there is no such benchmark.",
            ])
    }

    @Test func limitWithoutMeasurementHasNoVerdict() {
        let row = Report.Row(name: "a/b", nsPerOp: 100, spread: 0)
        #expect(Benchmark.Limit(time: nil, allocations: 1).verdict(on: row) == nil)
        #expect(Benchmark.Limit(time: .nanoseconds(100), allocations: 1).verdict(on: row) == .met)
        #expect(Benchmark.Limit(time: .nanoseconds(99), allocations: 1).verdict(on: row) == .missed)
        #expect(Benchmark.Limit(time: nil, allocations: nil).verdict(on: row) == nil)
    }

    @Test func peerLimitComparesRatio() {
        desk.suite.add("a/one", "", setup: desk.machine.work(ns: 100))
        desk.suite.add("a/many", "", peer: "a/one", ratio: 3, setup: desk.machine.work(ns: 299))
        desk.suite.add("a/more", "", peer: "a/one", ratio: 3, setup: desk.machine.work(ns: 301))
        #expect(desk.run("--quick") == 0)
        #expect(desk.printed.last == "\n1 of 2 limits missed: a/more.")
        #expect(desk.text.contains("3× the peer   MISSED"))
    }

    @Test func uncheckableLimitsAreRejected() {
        desk.suite.add("a/b", "", setup: desk.machine.work(ns: 100))
        #expect(desk.run("--check-allocations") == 2)
        desk.files[Program.limitsPath] = Data("a/b".utf8)
        #expect(desk.run("--check-allocations") == 2)
        #expect(desk.complaints.last?.hasPrefix("Benchmarks/allocation-limits.txt:1: ") == true)
        desk.files[Program.limitsPath] = Data("a/b 0".utf8)
        #expect(desk.run("--check-allocations", counts: false) == 2)
        #expect(desk.machine.log.isEmpty, "nothing was measured in vain")
    }

    @Test func slowerResultFailsComparison() {
        var cost = 100.0
        let machine = desk.machine
        desk.suite.add("a/b", "") { { machine.time += cost * Double($0) } }
        #expect(desk.run("--quick", "--json", "old.json") == 0)
        #expect(desk.run("--quick", "--compare", "old.json") == 0)
        cost = 120
        #expect(desk.run("--quick", "--compare", "old.json", "--json", "old.json") == 1)
        #expect(desk.text.contains("+20.0%   ±5.0%   slower"))
        #expect(desk.printed.last == "Slower: a/b.")
        #expect(desk.run("--quick", "--compare", "old.json") == 0)
    }

    @Test func temporarySlowdownIsMeasuredAgain() {
        var cost = 100.0
        var setups = 0
        let machine = desk.machine
        desk.suite.add("a/b", "") {
            setups += 1
            // The machine is busy during the first set-up of the second run.
            cost = setups == 2 ? 180 : 100
            return { machine.time += cost * Double($0) }
        }
        #expect(desk.run("--quick", "--json", "old.json") == 0)
        #expect(desk.run("--quick", "--compare", "old.json") == 0)
        #expect(desk.text.contains("Looked slower and measured again: a/b."))
        #expect(setups == 3)
    }

    @Test func missingBenchmarkIsReportedUnlessFiltered() {
        desk.suite.add("a/b", "", setup: desk.machine.work(ns: 100))
        #expect(desk.run("--quick", "--json", "old.json") == 0)
        desk.files["old.json"] = desk.files["old.json"].map {
            Data(String(decoding: $0, as: UTF8.self).replacing("a/b", with: "a/was").utf8)
        }
        #expect(desk.run("--quick", "--compare", "old.json", "--filter", "a") == 0)
        #expect(!desk.text.contains("Gone"))
        #expect(desk.run("--quick", "--compare", "old.json") == 0)
        #expect(desk.text.contains("Gone since then: a/was."))
    }

    @Test func mistakesExitWithCodeTwoBeforeMeasuring() {
        desk.suite.add("a/b", "", setup: desk.machine.work(ns: 100))
        desk.files["text"] = Data("hello".utf8)
        #expect(desk.run("--slow") == 2)
        #expect(desk.run("--filter", "nope") == 2)
        #expect(desk.run("--compare", "none.json") == 2)
        #expect(desk.run("--compare", "text") == 2)
        desk.suite.add("a/b", "", peer: "a/missing", setup: desk.machine.work(ns: 100))
        #expect(desk.run() == 2)
        #expect(desk.complaints.count == 5)
        #expect(
            desk.complaints.last
                == "Two benchmarks are called a/b.\na/b names the peer a/missing, which does not exist.")
        #expect(desk.machine.log.isEmpty)
    }

    @Test func listDescribesBenchmarksWithoutRunning() {
        desk.suite.add("a/b", "Does a thing.", peer: "a/c", allocations: 1, setup: desk.machine.work(ns: 100))
        desk.suite.add("a/c", "Does another.", setup: desk.machine.work(ns: 100))
        #expect(desk.run("--list") == 0)
        #expect(
            desk.text == """
                  a/b   Does a thing.
                        peer: a/c; limit: 1 alloc
                  a/c   Does another.
                """)
        #expect(desk.machine.log.isEmpty)
    }
}
