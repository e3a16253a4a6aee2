/// Charts of limits that look for the capacity of a server.
struct LimitCurves {
    private let curves: [(name: String, course: LimitCourse)]
    private let simulation: LimitSimulation

    /// A server for 40 requests at once, of which 10 are left for a while.
    init() {
        var simulation = LimitSimulation()
        simulation.capacity = .init(40, (40, 10), (80, 40))
        simulation.variation = 0.5
        simulation.seed = 3
        self.simulation = simulation
        var refusing = simulation
        refusing.longestQueue = 80
        curves = [
            (AdaptiveSimulatedLimit.name, simulation.run([AdaptiveSimulatedLimit(initial: 4)])),
            (AIMDLimit.name, refusing.run([AIMDLimit(initial: 4)])),
            (VegasLimit.name, simulation.run([VegasLimit(initial: 4)])),
            (Gradient2Limit.name, simulation.run([Gradient2Limit(initial: 4)])),
        ]
    }

    var limits: Plot {
        plot("Limits for a server that takes 40 requests at once, and 10 from second 40 to 80", "limit") {
            $0.limits[0]
        }
    }

    var queue: Plot { plot("Requests that wait at that server", "requests", \.queue) }

    var csv: String {
        let header = ["second"] + curves.flatMap { ["limit \($0.name)", "queue \($0.name)"] }
        let rows = (curves.map(\.course.moments.count).min() ?? 0)
        let lines = (0..<rows).map { row in
            [Numbers.short(curves[0].course.moments[row].second)]
                + curves.flatMap { ["\($0.course.moments[row].limits[0])", "\($0.course.moments[row].queue)"] }
        }
        return ([header] + lines).map { $0.joined(separator: ",") + "\n" }.joined()
    }

    private func plot(_ title: String, _ unit: String, _ number: (LimitCourse.Moment) -> Int) -> Plot {
        Plot(
            title: title, x: Plot.Axis("seconds", range: 0...simulation.seconds),
            y: Plot.Axis(unit, scale: .logarithmicFromZero),
            series: curves.map { name, course in
                Plot.Series(name, course.moments.map { (x: $0.second, y: Double(number($0))) })
            },
            bands: [Plot.Band("capacity 10", 40...80)])
    }
}
