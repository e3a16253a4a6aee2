/// The results of a run as parts of a document.
struct MarkdownTables {
    let host: MeasuredHost
    let rows: [Session.Row]

    /// The lines of a part; nil for a part that a run of benchmarks does not generate.
    func lines(_ part: MarkdownDocument.Part, _ words: [String]) -> [String]? {
        switch part {
        case .machine: [machine]
        case .results: results(words)
        case .limits: limits
        case .fleet, .growth, .limitSum, .limitTrials, .limitDefeats: nil
        }
    }

    private var machine: String { host.sentence }

    /// The rows whose names begin with these words, grouped by the order of the words.
    private func results(_ words: [String]) -> [String] {
        var table = Table([
            .init(title: "benchmark", alignment: .left),
            .init(title: "time", alignment: .right),
            .init(title: "spread", alignment: .right),
            .init(title: "allocations", alignment: .right),
            .init(title: "MB/s", alignment: .right),
            .init(title: "comparison", alignment: .left),
            .init(title: "limit", alignment: .left),
        ])
        var names: Set<String> = []
        for word in words {
            for row in rows where row.row.name.hasPrefix(word) && names.insert(row.row.name).inserted {
                table.add(cells(row.benchmark, row.row))
            }
        }
        return table.markdown()
    }

    private func cells(_ benchmark: Benchmark, _ row: Report.Row) -> [Table.Cell] {
        let verdict = benchmark.limit.verdict(on: row)
        return [
            Table.Cell("`\(row.name)`"),
            Table.Cell(Numbers.time(row.nsPerOp)),
            Table.Cell("±\(Numbers.percent(row.spread))"),
            Table.Cell(row.allocsPerOp.map(Numbers.short) ?? ""),
            Table.Cell(row.bytesPerSecond.map { Numbers.measured($0 / 1e6) } ?? ""),
            Table.Cell(row.ratio.map { comparison($0, row.peer ?? "") } ?? ""),
            Table.Cell(verdict.map { "\(benchmark.limit.text): \(word(for: $0))" } ?? ""),
        ]
    }

    /// A phrase such as `2.5× faster than`, followed by the peer's name.
    private func comparison(_ ratio: Double, _ peer: String) -> String {
        switch Numbers.advantage(ratio) {
        case "level": "level with `\(peer)`"
        case "free": "nothing compared with `\(peer)`"
        case let advantage: "\(advantage) than `\(peer)`"
        }
    }

    private func word(for verdict: Benchmark.Limit.Verdict) -> String {
        verdict == .met ? "met" : "**missed**"
    }

    private var limits: [String] {
        let limited = rows.filter { $0.benchmark.limit.verdict(on: $0.row) != nil }
        let missed = limited.flatMap { row in
            row.benchmark.limit.missed(by: row.row).map {
                "- `\(row.row.name)`: \($0.found), where \($0.most) is the limit"
            }
        }
        guard !missed.isEmpty else { return ["All \(limited.count) limits are met."] }
        let met = limited.filter { $0.benchmark.limit.verdict(on: $0.row) == .met }
        return ["\(met.count) of \(limited.count) rows with a limit meet it. These do not:", ""] + missed
    }
}
