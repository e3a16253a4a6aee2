/// The rows of a run, as a table, with a free line between topics.
enum ResultTable {
    static func lines(_ rows: [Session.Row], styled: Bool) -> [String] {
        var table = Table([
            .init(title: "benchmark", alignment: .left),
            .init(title: "ns/op", alignment: .decimal),
            .init(title: "spread", alignment: .decimal),
            .init(title: "allocs/op", alignment: .decimal),
            .init(title: "MB/s", alignment: .decimal),
            .init(title: "peer", alignment: .left),
            .init(title: "ratio", alignment: .decimal),
            .init(title: "limit", alignment: .left),
            .init(title: "", alignment: .left),
        ])
        var topic: Substring?
        for row in rows {
            let next = row.row.name.prefix { $0 != "/" }
            if let topic, topic != next { table.addGap() }
            topic = next
            table.add(cells(row.benchmark, row.row))
        }
        return table.lines(styled: styled)
    }

    private static func cells(_ benchmark: Benchmark, _ row: Report.Row) -> [Table.Cell] {
        let verdict = benchmark.limit.verdict(on: row)
        return [
            Table.Cell(row.name),
            Table.Cell(Numbers.measured(row.nsPerOp)),
            Table.Cell("±" + Numbers.percent(row.spread), .faint),
            Table.Cell(row.allocsPerOp.map(Numbers.short) ?? "n/a"),
            Table.Cell(row.bytesPerSecond.map { Numbers.measured($0 / 1e6) } ?? ""),
            Table.Cell(row.peer ?? "", .faint),
            Table.Cell(row.ratio.map(Numbers.advantage) ?? "", (row.ratio ?? 1) > 1 ? .plain : .good),
            Table.Cell(benchmark.limit.text, .faint),
            Table.Cell(verdict?.rawValue ?? "", verdict == .missed ? .bad : .good),
        ]
    }
}

extension Benchmark.Limit {
    enum Verdict: String {
        case met = "met"
        case missed = "MISSED"
    }

    /// The limit as the table shows it, empty if there is none.
    var text: String {
        let parts = [
            time.map { "\(Numbers.short($0.nanoseconds)) ns" },
            allocations.map { "\(Numbers.short($0)) \($0 == 1 ? "alloc" : "allocs")" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    /// Whether a row keeps to the limit, or nothing if there is none or what it limits could not be measured.
    func verdict(on row: Report.Row) -> Verdict? {
        let isSlow = time.map { row.nsPerOp > $0.nanoseconds }
        let isWasteful = allocations.flatMap { most in row.allocsPerOp.map { $0 > most } }
        if isSlow == nil, isWasteful == nil { return nil }
        return isSlow == true || isWasteful == true ? .missed : .met
    }
}
