/// Curves over two axes, drawn as a self-contained SVG.
///
/// ```swift
/// let plot = Plot(
///     title: "Requests a second", x: Plot.Axis("seconds"), y: Plot.Axis("requests", scale: .logarithmic),
///     series: [Plot.Series("measured", [(1, 10), (2, 100)])])
/// let svg = plot.svg()
/// ```
///
/// The colours are readable on light and on dark backgrounds. The same plot gives the same text each time.
package struct Plot: Sendable {
    package var title: String
    package var x: Axis
    package var y: Axis
    /// At most as many as there are colours; the first ones are drawn first.
    package var series: [Series]
    package var bands: [Band]

    package init(title: String, x: Axis, y: Axis, series: [Series], bands: [Band] = []) {
        self.title = title
        self.x = x
        self.y = y
        self.series = series
        self.bands = bands
    }

    /// One curve.
    package struct Series: Sendable {
        package var name: String
        package var points: [(x: Double, y: Double)]

        package init(_ name: String, _ points: [(x: Double, y: Double)]) {
            self.name = name
            self.points = points
        }
    }

    /// A named range of the horizontal axis.
    package struct Band: Sendable {
        package var name: String
        package var range: ClosedRange<Double>

        package init(_ name: String, _ range: ClosedRange<Double>) {
            self.name = name
            self.range = range
        }
    }

    /// What an axis measures, and how.
    package struct Axis: Sendable {
        package var name: String
        package var scale: PlotScale
        /// The range; nil for what the curves need.
        package var range: ClosedRange<Double>?

        package init(_ name: String, scale: PlotScale = .linear, range: ClosedRange<Double>? = nil) {
            self.name = name
            self.scale = scale
            self.range = range
        }

        /// The ticks, from one end of the axis to the other.
        func ticks(for values: [Double]) -> [Double] {
            let drawable = values.filter(scale.canShow)
            let lowest = range?.lowerBound ?? drawable.min() ?? 1
            let highest = range?.upperBound ?? drawable.max() ?? 1
            return scale.ticks(from: lowest, to: highest)
        }
    }
}
