import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct FigureTests {
    private let figure = Figure(
        "growth", "Growth", x: Plot.Axis("tags"), y: Plot.Axis("ns"),
        curves: [
            Figure.Curve("ours", over: [1, 10]) { "ours-\($0)" },
            Figure.Curve("theirs", over: [1, 100]) { "theirs-\($0)" },
        ])

    private func rows(_ costs: [(String, Double)]) -> [Report.Row] {
        costs.map { Report.Row(name: $0.0, nsPerOp: $0.1, spread: 0) }
    }

    private var measured: [Report.Row] {
        rows([("ours-1", 4), ("theirs-100", 7_000.25), ("ours-10", 8), ("other", 1), ("theirs-1", 16)])
    }

    @Test func pointsMatchBenchmarks() throws {
        let plot = try #require(figure.plot(of: measured))
        #expect(plot.series.map(\.name) == ["ours", "theirs"])
        #expect(plot.series[0].points.map(\.x) == [1, 10] && plot.series[0].points.map(\.y) == [4, 8])
        #expect(plot.series[1].points.map(\.x) == [1, 100] && plot.series[1].points.map(\.y) == [16, 7_000.25])
    }

    @Test func csvHasEveryPointOfEveryCurve() {
        #expect(figure.csv(of: measured) == "tags,ours,theirs\n1,4.0,16.0\n10,8.0,\n100,,7000.25\n")
    }

    @Test func plotIsNilIfResultIsMissing() {
        #expect(figure.plot(of: measured.filter { $0.name != "ours-10" }) == nil)
    }

    @Test func throughputIsInverseOfTime() throws {
        let figure = Figure(
            "a", "", x: Plot.Axis(""), y: Plot.Axis(""), quantity: .millionsPerSecond,
            curves: [Figure.Curve("", over: [1, 2]) { "threads-\($0)" }])
        let plot = try #require(figure.plot(of: rows([("threads-1", 250), ("threads-2", 0)])))
        #expect(plot.series[0].points.map(\.y) == [4, 0])
    }

    @Test func pointsAreMarkedOnlyIfFew() throws {
        let plot = try #require(figure.plot(of: measured))
        #expect(plot.svg().split(separator: "<circle").count == 1 + 4)
        let many = Plot.Series("", (0..<60).map { (x: Double($0), y: 1) })
        let crowded = Plot(title: "", x: Plot.Axis(""), y: Plot.Axis(""), series: [many])
        #expect(!crowded.svg().contains("<circle"))
    }

    @Test func figureOfUnknownBenchmarkIsMistake() {
        let suite = Suite()
        suite.add("ours-1", "") { { _ in } }
        suite.add(
            Figure(
                "growth", "", x: Plot.Axis(""), y: Plot.Axis(""),
                curves: [Figure.Curve("", over: [1, 2]) { "ours-\($0)" }]))
        #expect(suite.mistakes == ["The picture growth shows ours-2, which does not exist."])
    }
}
