/// The results of fleets, and what it cost to simulate them.
struct FleetReport {
    let host: MeasuredHost
    let runs: [FleetRun]

    /// The runs of the largest fleet, which is the one that the document describes.
    private var largest: [FleetRun] {
        let clients = runs.map(\.simulation.clients).max()
        return runs.filter { $0.simulation.clients == clients }
    }

    /// The courses of the largest fleet.
    var curves: OutageCurves {
        let simulation = largest.first?.simulation ?? .fleet(of: 1)
        return OutageCurves(simulation, largest.map { (name: $0.way.rawValue, course: $0.course) })
    }

    /// The load on the server of the largest fleet.
    var table: Table {
        var table = Table([
            .init(title: "clients", alignment: .right),
            .init(title: "each with", alignment: .left),
            .init(title: "most requests in a second", alignment: .right),
            .init(title: "of a calm day's", alignment: .right),
            .init(title: "in the outage", alignment: .right),
            .init(title: "all served again", alignment: .left),
        ])
        for run in largest {
            table.add([
                Table.Cell(Self.count(run.simulation.clients)),
                Table.Cell(run.way.rawValue),
                Table.Cell(Self.count(run.course.peak)),
                Table.Cell(Numbers.measured(run.overload) + "×"),
                Table.Cell(Self.count(run.requestsInOutage)),
                Table.Cell(run.recovery.map { "\($0) s after its end" } ?? "never"),
            ])
        }
        return table
    }

    /// How time and memory grow with the number of clients.
    var growth: Table {
        var table = Table([
            .init(title: "clients", alignment: .right),
            .init(title: "each with", alignment: .left),
            .init(title: "requests", alignment: .right),
            .init(title: "processor time", alignment: .right),
            .init(title: "per request", alignment: .right),
            .init(title: "memory", alignment: .right),
            .init(title: "chain of a client", alignment: .right),
        ])
        for run in runs {
            let requests = run.course.requests.reduce(0, +)
            table.add([
                Table.Cell(Self.count(run.simulation.clients)),
                Table.Cell(run.way.rawValue),
                Table.Cell(Self.count(requests)),
                Table.Cell(Numbers.time(run.duration.nanoseconds)),
                Table.Cell(Numbers.time(run.duration.nanoseconds / Double(max(1, requests)))),
                Table.Cell(run.peakBytes.map { Numbers.bytes(Double($0)) } ?? ""),
                Table.Cell(
                    run.chainBytes.map { Self.count($0 / max(1, run.simulation.clients)) + " B" } ?? ""),
            ])
        }
        return table
    }

    /// The lines of a part of a document; nil for a part that a fleet does not generate.
    func lines(_ part: MarkdownDocument.Part, _ words: [String]) -> [String]? {
        switch part {
        case .fleet: [host.sentence, ""] + table.markdown()
        case .growth: growth.markdown()
        case .machine, .results, .limits, .limitSum, .limitTrials, .limitDefeats: nil
        }
    }

    private static func count(_ number: Int) -> String { Numbers.fixed(Double(number), places: 0) }
}
