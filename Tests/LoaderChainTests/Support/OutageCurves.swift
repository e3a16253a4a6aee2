import BenchmarkSupport

/// The outage with and without the chain, as the guide shows it.
struct OutageCurves {
    let without: OutageSimulation.Course
    let with: OutageSimulation.Course

    /// What arrives at the server.
    var requests: Plot {
        plot("Requests that reach the server", "a second", .logarithmicFromZero, \.requests)
    }

    /// What comes back in time.
    var answers: Plot {
        plot("Answers that come back in time", "a second", .linear, \.successes)
    }

    /// Both courses as a table.
    var csv: String {
        let rows = without.requests.indices.map { second in
            let numbers = [
                second, without.requests[second], without.successes[second], with.requests[second],
                with.successes[second],
            ]
            return numbers.map(String.init).joined(separator: ",")
        }
        let header = "second,requests without,answers without,requests with,answers with"
        return ([header] + rows).joined(separator: "\n") + "\n"
    }

    private func plot(
        _ title: String, _ unit: String, _ scale: PlotScale, _ numbers: (OutageSimulation.Course) -> [Int]
    ) -> Plot {
        func series(_ name: String, _ course: OutageSimulation.Course) -> Plot.Series {
            Plot.Series(name, numbers(course).enumerated().map { (x: Double($0.offset), y: Double($0.element)) })
        }
        let outage = OutageSimulation().outage
        return Plot(
            title: title, x: Plot.Axis("seconds", range: 0...60), y: Plot.Axis(unit, scale: scale),
            series: [series("without the chain", without), series("with it", with)],
            bands: [Plot.Band("the server is out", Double(outage.lowerBound)...Double(outage.upperBound))])
    }
}
