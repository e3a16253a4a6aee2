/// Charts of an outage under several clients.
package struct OutageCurves {
    let simulation: OutageSimulation
    let courses: [(name: String, course: OutageCourse)]

    package init(_ simulation: OutageSimulation, _ courses: [(name: String, course: OutageCourse)]) {
        self.simulation = simulation
        self.courses = courses
    }

    /// The requests that reach the server.
    package var requests: Plot {
        plot("Requests that reach the server", "a second", .logarithmicFromZero, \.requests)
    }

    /// The responses that arrive in time.
    package var answers: Plot {
        plot("Answers that come back in time", "a second", .linear, \.successes)
    }

    package var csv: String {
        let header = ["second"] + courses.flatMap { ["requests \($0.name)", "answers \($0.name)"] }
        let rows = (0..<simulation.seconds).map { second in
            let numbers = courses.flatMap { [$0.course.requests[second], $0.course.successes[second]] }
            return ([second] + numbers).map(String.init)
        }
        return ([header] + rows).map { $0.joined(separator: ",") + "\n" }.joined()
    }

    private func plot(
        _ title: String, _ unit: String, _ scale: PlotScale, _ numbers: (OutageCourse) -> [Int]
    ) -> Plot {
        let outage = simulation.outage
        return Plot(
            title: title, x: Plot.Axis("seconds", range: 0...Double(simulation.seconds)),
            y: Plot.Axis(unit, scale: scale),
            series: courses.map { name, course in
                Plot.Series(name, numbers(course).enumerated().map { (x: Double($0.offset), y: Double($0.element)) })
            },
            bands: [Plot.Band("the server is out", Double(outage.lowerBound)...Double(outage.upperBound))])
    }
}
