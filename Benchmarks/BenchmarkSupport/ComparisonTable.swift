enum ComparisonTable {
    static func lines(_ comparison: Comparison, styled: Bool) -> [String] {
        var table = Table([
            .init(title: "benchmark", alignment: .left),
            .init(title: "before", alignment: .decimal),
            .init(title: "now", alignment: .decimal),
            .init(title: "change", alignment: .decimal),
            .init(title: "noise", alignment: .decimal),
            .init(title: "allocs/op", alignment: .left),
            .init(title: "", alignment: .left),
        ])
        for line in comparison.lines { table.add(cells(line)) }
        return table.lines(styled: styled)
    }

    private static func cells(_ line: Comparison.Line) -> [Table.Cell] {
        guard let before = line.before else {
            return [
                Table.Cell(line.after.name), "", Table.Cell(Numbers.measured(line.after.nsPerOp)), "", "", "",
                Table.Cell(line.verdict.rawValue, .faint),
            ]
        }
        let style: Style =
            switch line.verdict {
            case .slower: .bad
            case .faster: .good
            case .same, .new: .faint
            }
        return [
            Table.Cell(line.after.name),
            Table.Cell(Numbers.measured(before.nsPerOp), .faint),
            Table.Cell(Numbers.measured(line.after.nsPerOp)),
            Table.Cell((line.change > 0 ? "+" : "") + Numbers.percent(line.change), style),
            Table.Cell("±" + Numbers.percent(line.noise), .faint),
            Table.Cell(allocations(before.allocsPerOp, line.after.allocsPerOp)),
            Table.Cell(line.verdict.rawValue, style),
        ]
    }

    /// The change of the allocations, if there is one.
    private static func allocations(_ before: Double?, _ now: Double?) -> String {
        guard let before, let now, before != now else { return "" }
        return "\(Numbers.short(before)) → \(Numbers.short(now))"
    }
}
