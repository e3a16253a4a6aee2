/// A chart of how cost grows: curves of benchmarks that differ in one number.
package struct Figure {
    /// The value that is drawn.
    package enum Quantity {
        case nanoseconds
        /// Throughput, in millions per second.
        case millionsPerSecond
    }

    /// Benchmarks of one thing, each with its number.
    package struct Curve {
        let name: String
        let points: [(x: Double, benchmark: String)]

        /// Makes a curve of the benchmarks that `name` returns for each number.
        package init(_ name: String, over numbers: [Int], benchmark: (Int) -> String) {
            self.name = name
            points = numbers.map { (x: Double($0), benchmark: benchmark($0)) }
        }
    }

    /// The name of its files, without extension.
    let file: String
    let title: String
    let x: Plot.Axis
    let y: Plot.Axis
    let quantity: Quantity
    let curves: [Curve]

    package init(
        _ file: String, _ title: String, x: Plot.Axis, y: Plot.Axis, quantity: Quantity = .nanoseconds,
        curves: [Curve]
    ) {
        self.file = file
        self.title = title
        self.x = x
        self.y = y
        self.quantity = quantity
        self.curves = curves
    }

    /// The names of all benchmarks that it shows.
    var benchmarks: [String] { curves.flatMap { $0.points.map(\.benchmark) } }

    /// The chart of measured rows; nil if one that it shows is missing.
    func plot(of rows: [Report.Row]) -> Plot? {
        let values = values(of: rows)
        guard benchmarks.allSatisfy({ values[$0] != nil }) else { return nil }
        let series = curves.map { curve in
            Plot.Series(curve.name, curve.points.map { (x: $0.x, y: values[$0.benchmark] ?? 0) })
        }
        var y = y
        if case .linear = y.scale {
            // Costs are compared by their heights, so the axis begins at zero.
            y.range = 0...max(0, series.flatMap { $0.points.map(\.y) }.max() ?? 0)
        }
        return Plot(title: title, x: x, y: y, series: series)
    }

    /// The same numbers as a table; a cell is empty if a curve has no point there.
    func csv(of rows: [Report.Row]) -> String {
        let values = values(of: rows)
        let places = Set(curves.flatMap { $0.points.map(\.x) }).sorted()
        let lines = places.map { place in
            let cells = curves.map { curve in
                let name = curve.points.first { $0.x == place }?.benchmark
                return name.flatMap { values[$0] }.map { "\(Statistics.rounded($0, places: 3))" } ?? ""
            }
            return ["\(Int(place))"] + cells
        }
        return ([[x.name] + curves.map(\.name)] + lines).map { $0.joined(separator: ",") + "\n" }.joined()
    }

    private func values(of rows: [Report.Row]) -> [String: Double] {
        let pairs = rows.map { row in
            switch quantity {
            case .nanoseconds: (row.name, row.nsPerOp)
            case .millionsPerSecond: (row.name, row.nsPerOp > 0 ? 1_000 / row.nsPerOp : 0)
            }
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
}
