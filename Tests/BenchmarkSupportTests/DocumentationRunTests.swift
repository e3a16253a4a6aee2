import LoaderChainPlatformFoundation
import Testing

@testable import BenchmarkSupport

/// The tables and charts that the program generates for the documentation.
@Suite(.timeLimit(.minutes(10))) struct DocumentationRunTests {
    private let desk = Desk()

    private func addBenchmarks() {
        desk.suite.add("wait/1", "", limit: .nanoseconds(150), allocations: 2, setup: desk.machine.work(ns: 100))
        desk.suite.add(
            "wait/10", "", peer: "wait/1", limit: .microseconds(1), ratio: 1.5, setup: desk.machine.work(ns: 200))
        desk.suite.add("peer/10", "", peer: "wait/10", setup: desk.machine.work(ns: 50_000, allocations: 3))
        desk.suite.add(
            Figure(
                "waiting", "Waiting", x: Plot.Axis("tasks"), y: Plot.Axis("ns"),
                curves: [Figure.Curve("ours", over: [1, 10]) { "wait/\($0)" }]))
    }

    private func text(_ path: String) -> String {
        String(decoding: desk.files[path] ?? Data(), as: UTF8.self)
    }

    @Test func documentTablesAreFilledWithResults() {
        addBenchmarks()
        desk.files["a.md"] = Data(
            """
            <!-- made: machine -->
            <!-- end -->
            <!-- made: results peer/ wait/1 -->
            <!-- end -->
            <!-- made: limits -->
            <!-- end -->
            """.utf8)
        #expect(desk.run("--quick", "--markdown", "a.md") == 0)
        #expect(
            text("a.md") == """
                <!-- made: machine -->

                Measured on 2026-01-02: Abacus, 2 cores, Wood, Swift 6.0.

                <!-- end -->
                <!-- made: results peer/ wait/1 -->

                | benchmark | time | spread | allocations | comparison | limit |
                | --- | --: | --: | --: | --- | --- |
                | `peer/10` | 50.0 µs | ±0.0% | 3 | 250.0× slower than `wait/10` |  |
                | `wait/1` | 100.0 ns | ±0.0% | 0 |  | 150 ns, 2 allocs: met |
                | `wait/10` | 200.0 ns | ±0.0% | 0 | 2.00× slower than `wait/1` | 1,000 ns, 1.5× the peer: **missed** |

                <!-- end -->
                <!-- made: limits -->

                1 of 2 rows with a limit meet it. These do not:

                - `wait/10`: 2× the peer, where 1.5× the peer is the limit

                <!-- end -->
                """)
    }

    @Test func plotWritesPictureAndCSV() {
        addBenchmarks()
        #expect(desk.run("--quick", "--plot", "pictures") == 0)
        #expect(text("pictures/waiting.csv") == "tasks,ours\n1,100.0\n10,200.0\n")
        #expect(text("pictures/waiting.svg").contains("<polyline"))
        #expect(desk.complaints.isEmpty)
    }

    @Test func figureWithMissingResultsIsNotDrawn() {
        addBenchmarks()
        #expect(desk.run("--quick", "--plot", "pictures", "--filter", "wait/10") == 0)
        #expect(desk.files.isEmpty)
        #expect(desk.complaints == ["Not drawn, since not all of it was measured: waiting."])
    }

    @Test func earlierRunIsReusedWithoutMeasuring() {
        addBenchmarks()
        #expect(desk.run("--quick", "--json", "was.json", "--plot", "first") == 0)
        let measured = desk.machine.log.count
        // The earlier run was on another machine.
        desk.files["was.json"] = Data(text("was.json").replacing("Abacus", with: "Slide rule").utf8)
        desk.files["a.md"] = Data(
            "<!-- made: limits -->\n<!-- end -->\n<!-- made: machine -->\n<!-- end -->".utf8)
        #expect(desk.run("--from", "was.json", "--plot", "again", "--markdown", "a.md", "--json", "copy.json") == 0)
        #expect(desk.machine.log.count == measured)
        #expect(desk.files["again/waiting.svg"] == desk.files["first/waiting.svg"])
        #expect(desk.files["copy.json"] == desk.files["was.json"])
        #expect(text("a.md").contains("1 of 2 rows") && text("a.md").contains(": Slide rule, 2 cores"))
        #expect(desk.text.contains("As it was measured on 2026-01-02T03:04:05Z."))
    }

    @Test func invalidDocumentIsRejectedBeforeMeasuring() {
        addBenchmarks()
        desk.files["a.md"] = Data("# A\n<!-- made: limits -->".utf8)
        #expect(desk.run("--markdown", "a.md") == 2)
        #expect(desk.run("--markdown", "none.md") == 2)
        #expect(desk.run("fleet", "--markdown", "none.md") == 2)
        #expect(
            desk.complaints == ["a.md:2: this part has no end.", "none.md cannot be read.", "none.md cannot be read."])
        #expect(desk.machine.log.isEmpty)
    }
}
