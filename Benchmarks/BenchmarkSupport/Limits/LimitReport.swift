/// The results of all trials for all limits, as tables.
struct LimitReport {
    /// One trial with one limit, over all seeds.
    private struct Result {
        let trial: LimitTrial
        let runs: [[LimitTrial.Finding]]

        var held: Int { runs.count { $0.allSatisfy(\.holds) } }

        /// The medians of what was measured, and how many of the runs missed something.
        var cell: Table.Cell {
            let medians = (runs.first ?? []).indices.map { index in
                let values = runs.map { $0[index].value }.sorted()
                return LimitReport.text(values[values.count / 2])
            }
            let missed = runs.count - held
            let words = medians.joined(separator: ", ") + (missed == 0 ? "" : " (\(missed) of \(runs.count) missed)")
            return Table.Cell(words, missed == 0 ? .plain : .bad)
        }
    }

    private let names: [String]
    /// For each limit, the results in the order of the trials.
    private let results: [[Result]]

    init(seeds: Int, trials: [LimitTrial] = LimitTrial.all, progress: (String) -> Void) {
        func results<Limit: SimulatedLimit>(of limit: Limit.Type) -> [Result] {
            trials.enumerated().map { index, trial in
                progress("\(Limit.name), trial \(index + 1) of \(trials.count)")
                return Result(trial: trial, runs: (1...seeds).map { trial.run(limit, seed: UInt64($0)) })
            }
        }
        let ours = results(of: AdaptiveSimulatedLimit.self)
        let peers = [
            results(of: AIMDLimit.self), results(of: VegasLimit.self), results(of: Gradient2Limit.self),
        ]
        self.results = [ours] + peers
        names = [AdaptiveSimulatedLimit.name, AIMDLimit.name, VegasLimit.name, Gradient2Limit.name]
    }

    /// Every trial with what was measured; a table for each kind.
    var tables: [(title: String, table: Table)] {
        LimitTrial.Kind.allCases.compactMap { kind in
            let indices = results[0].indices.filter { results[0][$0].trial.kind == kind }
            guard let first = indices.first else { return nil }
            let findings = results[0][first].runs.first?.map(\.name).joined(separator: ", ") ?? ""
            var table = Table(
                [.init(title: "capacity", alignment: .right), .init(title: "variation", alignment: .right)]
                    + names.map { .init(title: $0, alignment: .left) })
            for index in indices {
                let trial = results[0][index].trial
                table.add(
                    [Table.Cell("\(trial.capacity)"), Table.Cell(Numbers.short(trial.variation))]
                        + results.map { $0[index].cell })
            }
            return ("\(kind.rawValue): \(findings)", table)
        }
    }

    /// How many runs passed, by kind and in all.
    var sum: Table {
        var table = Table(
            [.init(title: "runs that passed", alignment: .left), .init(title: "of", alignment: .right)]
                + names.map { .init(title: $0, alignment: .right) })
        for kind in LimitTrial.Kind.allCases {
            let held = results.map { $0.filter { $0.trial.kind == kind } }
            let runs = held[0].reduce(0) { $0 + $1.runs.count }
            guard runs > 0 else { continue }
            table.add(
                [Table.Cell(kind.rawValue), Table.Cell("\(runs)")]
                    + held.map { Table.Cell("\($0.reduce(0) { $0 + $1.held })") })
        }
        let runs = results[0].reduce(0) { $0 + $1.runs.count }
        table.add([Table.Cell("all"), Table.Cell("\(runs)")] + totals.map { Table.Cell("\($0)") })
        return table
    }

    /// How many runs of each limit passed.
    var totals: [Int] { results.map { $0.reduce(0) { $0 + $1.held } } }

    /// The trials in which another limit was better than ours.
    var defeats: [String] {
        results[0].indices.flatMap { index in
            let ours = results[0][index]
            return results.indices.dropFirst().compactMap { peer -> String? in
                let theirs = results[peer][index]
                guard theirs.held > ours.held else { return nil }
                let (trial, runs) = (ours.trial, ours.runs.count)
                return "\(names[peer]) is better: \(trial.kind.rawValue), capacity \(trial.capacity), variation "
                    + "\(Numbers.short(trial.variation)): \(theirs.held) of \(runs) instead of \(ours.held)"
            }
        }
    }

    func lines(_ part: MarkdownDocument.Part, _ words: [String]) -> [String]? {
        switch part {
        case .limitSum: sum.markdown()
        case .limitTrials: Array(tables.map(Self.section).joined(separator: [""]))
        case .limitDefeats:
            defeats.isEmpty ? ["None of the others is better in any trial."] : defeats.map { "- \($0)." }
        default:
            nil
        }
    }

    private static func section(_ title: String, _ table: Table) -> [String] {
        ["**\(title.prefix(1).uppercased())\(title.dropFirst())**", ""] + table.markdown()
    }

    private static func text(_ value: Double) -> String {
        guard value.isFinite else { return "never" }
        return value < 10 ? Numbers.fixed(value, places: 2) : Numbers.fixed(value, places: 0)
    }
}
