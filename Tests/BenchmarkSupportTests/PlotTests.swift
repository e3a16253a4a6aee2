import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct PlotTests {
    // MARK: Scales

    @Test func linearTicksAreRoundAndCoverRange() {
        #expect(PlotScale.linear.ticks(from: 0, to: 59) == [0, 10, 20, 30, 40, 50, 60])
        #expect(PlotScale.linear.ticks(from: -3, to: 2) == [-3, -2, -1, 0, 1, 2])
        #expect(PlotScale.linear.ticks(from: 7, to: 7).count >= 2)
        #expect(PlotScale.linear.ticks(from: 0, to: 0.04).map(Numbers.short) == ["0", "0.01", "0.02", "0.03", "0.04"])
    }

    @Test func logarithmicTicksAreDecades() {
        #expect(PlotScale.logarithmic.ticks(from: 3, to: 2_010) == [1, 10, 100, 1_000, 10_000])
        #expect(PlotScale.logarithmic.ticks(from: 10, to: 10) == [10, 100])
        #expect(PlotScale.logarithmicFromZero.ticks(from: 0, to: 90) == [0, 1, 10, 100])
    }

    @Test func placeIsFractionOfRange() {
        #expect(PlotScale.linear.place(of: 15, from: 10, to: 20) == 0.5)
        #expect(PlotScale.logarithmic.place(of: 10, from: 1, to: 100) == 0.5)
        #expect(PlotScale.logarithmicFromZero.place(of: 0, from: 0, to: 99) == 0)
        #expect(PlotScale.logarithmicFromZero.place(of: 9, from: 0, to: 99) == 0.5)
        // Values outside of the range are clamped to it.
        #expect(PlotScale.linear.place(of: 30, from: 10, to: 20) == 1)
        #expect(PlotScale.linear.place(of: 1, from: 1, to: 1) == 0)
    }

    @Test func unplottableValuesAreOmitted() {
        let plot = Plot(
            title: "", x: Plot.Axis(""), y: Plot.Axis("", scale: .logarithmic),
            series: [Plot.Series("", [(0, 1), (1, 0), (2, .nan), (3, 10)])])
        #expect(points(of: plot) == [["64,330", "704,76"]])
        #expect(points(of: Plot(title: "", x: Plot.Axis(""), y: Plot.Axis(""), series: [])).isEmpty)
    }

    // MARK: Drawing

    @Test func curvePointsAreAtTheirCoordinates() {
        let plot = Plot(
            title: "", x: Plot.Axis("", range: 0...10), y: Plot.Axis("", range: 0...10),
            series: [Plot.Series("up", [(0, 0), (5, 5), (10, 10)]), Plot.Series("down", [(0, 10), (10, 0)])])
        #expect(points(of: plot) == [["64,330", "384,203", "704,76"], ["64,76", "704,330"]])
    }

    @Test func namesAreEscapedInSVG() {
        let plot = Plot(
            title: "a < b & \"c\"", x: Plot.Axis("<x>"), y: Plot.Axis("y"),
            series: [Plot.Series("<script>", [(0, 1)])], bands: [Plot.Band("<b>", 0...1)])
        let svg = plot.svg()
        #expect(svg.contains(">a &lt; b &amp; &quot;c&quot;</text>"))
        #expect(svg.contains("&lt;x&gt;") && svg.contains("&lt;b&gt;") && svg.contains("&lt;script&gt;"))
        #expect(!svg.contains("<script") && !svg.contains("<b>"))
    }

    @Test func svgIsReproducibleAndLoadsNothing() {
        let plot = Plot(
            title: "t", x: Plot.Axis("x"), y: Plot.Axis("y"), series: [Plot.Series("s", [(0, 1_234.5), (1_000, 2)])])
        #expect(plot.svg() == plot.svg())
        #expect(!plot.svg().replacing("http://www.w3.org/2000/svg", with: "").contains("http"))
        // A comma between thousands would be read as one between coordinates.
        #expect(plot.svg().contains(">1,000</text>"))
        #expect(points(of: plot).allSatisfy { $0.allSatisfy { $0.split(separator: ",").count == 2 } })
    }

    /// The coordinates of each curve, as text.
    private func points(of plot: Plot) -> [[String]] {
        plot.svg().split(separator: "\n").filter { $0.hasPrefix("<polyline") }.map { line in
            let text = line.split(separator: "points=\"").last?.split(separator: "\"").first ?? ""
            return text.split(separator: " ").map(String.init)
        }
    }
}
