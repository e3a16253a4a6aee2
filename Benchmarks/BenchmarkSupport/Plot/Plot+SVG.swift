extension Plot {
    /// The chart as an SVG document.
    package func svg() -> String {
        PlotDrawing(self).svg
    }
}

/// The layout of a plot: 720 by 380 pixels, with room for labels around the curves.
private struct PlotDrawing {
    private let plot: Plot
    private let xTicks: [Double]
    private let yTicks: [Double]

    private let width = 720.0
    private let height = 380.0
    private let left = 64.0
    private let right = 704.0
    private let top = 76.0
    private let bottom = 330.0

    private static let mostDots = 20
    /// Medium tones, which are visible on white and on black.
    private static let colours = ["#d1495b", "#2a8f85", "#3b7dc4", "#b7791f", "#8a63c7", "#6b8e23"]
    private static let style = """
        text { font: 12px system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; fill: #75808c }
        .title { font-size: 15px; font-weight: 600 }
        .grid { stroke: #8b949e; stroke-opacity: .28 }
        .axis { stroke: #8b949e; stroke-opacity: .8 }
        .band { fill: #8b949e; fill-opacity: .14 }
        .curve { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round }
        """

    init(_ plot: Plot) {
        self.plot = plot
        xTicks = plot.x.ticks(for: plot.series.flatMap { $0.points.map(\.x) })
        yTicks = plot.y.ticks(for: plot.series.flatMap { $0.points.map(\.y) })
    }

    var svg: String {
        let opening = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" \
            width="\(number(width))" height="\(number(height))" role="img" aria-label="\(escaped(plot.title))">
            """
        let parts = bands + horizontalTicks + verticalTicks + curves + dots + words
        return ([opening, "<style>\n\(Self.style)\n</style>"] + parts + ["</svg>", ""]).joined(separator: "\n")
    }

    // MARK: Parts

    private var bands: [String] {
        plot.bands.flatMap { band in
            let (start, end) = (x(band.range.lowerBound), x(band.range.upperBound))
            return [
                """
                <rect class="band" x="\(number(start))" y="\(number(top))" width="\(number(end - start))" \
                height="\(number(bottom - top))"/>
                """,
                text(band.name, x: (start + end) / 2, y: top + 16, anchor: "middle"),
            ]
        }
    }

    private var verticalTicks: [String] {
        yTicks.flatMap { tick in
            [
                line(left, y(tick), right, y(tick), tick == yTicks.first ? "axis" : "grid"),
                text(Numbers.tick(tick), x: left - 8, y: y(tick) + 4, anchor: "end"),
            ]
        }
    }

    private var horizontalTicks: [String] {
        xTicks.flatMap { tick in
            [
                line(x(tick), bottom, x(tick), bottom + 5, "axis"),
                text(Numbers.tick(tick), x: x(tick), y: bottom + 20, anchor: "middle"),
            ]
        }
    }

    private var curves: [String] {
        plot.series.enumerated().map { index, series in
            let points = series.points.filter { plot.x.scale.canShow($0.x) && plot.y.scale.canShow($0.y) }
            let places = points.map { "\(number(x($0.x))),\(number(y($0.y)))" }
            return """
                <polyline class="curve" stroke="\(colour(index))" points="\(places.joined(separator: " "))"/>
                """
        }
    }

    /// A dot at every measured value, unless the dots would touch.
    private var dots: [String] {
        plot.series.enumerated().filter { $0.element.points.count <= Self.mostDots }.flatMap { index, series in
            series.points.filter { plot.x.scale.canShow($0.x) && plot.y.scale.canShow($0.y) }.map { point in
                """
                <circle fill="\(colour(index))" cx="\(number(x(point.x)))" cy="\(number(y(point.y)))" r="3.5"/>
                """
            }
        }
    }

    /// The title, and the names of the axes and the curves.
    private var words: [String] {
        let title = text(plot.title, x: 16, y: 26, class: "title")
        let yName = text(plot.y.name, x: 16, y: 52)
        let xName = text(plot.x.name, x: right, y: height - 12, anchor: "end")
        // The names are laid out from the right; this is about the width of a letter.
        let letter = 6.6
        var end = right
        var legend: [String] = []
        for (index, series) in plot.series.enumerated().reversed() {
            let start = end - Double(series.name.count) * letter
            legend += [
                """
                <line class="curve" stroke="\(colour(index))" x1="\(number(start - 24))" y1="48" \
                x2="\(number(start - 8))" y2="48"/>
                """,
                text(series.name, x: start, y: 52),
            ]
            end = start - 44
        }
        return [title, yName, xName] + legend
    }

    // MARK: Positions

    private func x(_ value: Double) -> Double {
        left + (right - left) * plot.x.scale.place(of: value, from: xTicks[0], to: xTicks[xTicks.count - 1])
    }

    private func y(_ value: Double) -> Double {
        bottom - (bottom - top) * plot.y.scale.place(of: value, from: yTicks[0], to: yTicks[yTicks.count - 1])
    }

    private func colour(_ index: Int) -> String { Self.colours[index % Self.colours.count] }

    // MARK: Elements

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ kind: String) -> String {
        """
        <line class="\(kind)" x1="\(number(x1))" y1="\(number(y1))" x2="\(number(x2))" y2="\(number(y2))"/>
        """
    }

    private func text(_ text: String, x: Double, y: Double, anchor: String = "start", class kind: String = "")
        -> String
    {
        let kind = kind.isEmpty ? "" : " class=\"\(kind)\""
        return """
            <text\(kind) x="\(number(x))" y="\(number(y))" text-anchor="\(anchor)">\(escaped(text))</text>
            """
    }

    /// To a tenth of a pixel, without commas.
    private func number(_ value: Double) -> String {
        Numbers.short((value * 10).rounded() / 10).filter { $0 != "," }
    }

    private func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
