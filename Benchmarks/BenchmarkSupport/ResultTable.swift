/// The rows of a run as a table, with an empty line between topics.
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
            // A peer stays with the benchmarks that it is compared with.
            if next != "peer" {
                if let topic, topic != next { table.addGap() }
                topic = next
            }
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
            time.map { Numbers.time($0.nanoseconds, Numbers.short) },
            allocations.map(Self.allocationsText), ratio.map(Self.ratioText),
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    static func allocationsText(_ count: Double) -> String {
        "\(Numbers.short(count)) \(count == 1 ? "alloc" : "allocs")"
    }

    static func ratioText(_ ratio: Double) -> String {
        "\(Numbers.short(ratio))× the peer"
    }

    /// Whether a row meets the limit; nil if there is none, or the limited value was not measured.
    func verdict(on row: Report.Row) -> Verdict? {
        let found = values(of: row)
        return found.isEmpty ? nil : found.contains { $0.isMissed } ? .missed : .met
    }

    /// The parts of the limit that a row misses, in words.
    func missed(by row: Report.Row) -> [(found: String, most: String)] {
        values(of: row).filter(\.isMissed).map { (found: $0.found, most: $0.most) }
    }

    /// Each part of the limit with the measured value.
    private func values(of row: Report.Row) -> [(isMissed: Bool, found: String, most: String)] {
        func value(_ found: Double?, _ most: Double?, _ text: (Double) -> String) -> (Bool, String, String)? {
            guard let found, let most else { return nil }
            return (found > most, text(found), text(most))
        }
        let time = value(row.nsPerOp, time?.nanoseconds) { Numbers.time($0, Numbers.short) }
        let parts = [
            time.map { ($0.0, Numbers.time(row.nsPerOp), $0.2) },
            value(row.allocsPerOp, allocations, Self.allocationsText), value(row.ratio, ratio, Self.ratioText),
        ]
        return parts.compactMap(\.self).map { (isMissed: $0.0, found: $0.1, most: $0.2) }
    }
}
