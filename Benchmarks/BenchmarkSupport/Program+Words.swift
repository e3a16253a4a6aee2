extension Program {
    func printResults(_ rows: [Session.Row], on host: MeasuredHost, plan: Plan?) {
        console.print("\(host.cpu), \(host.cores) cores, \(host.os), Swift \(host.swift)")
        if let plan {
            let milliseconds = Numbers.short(plan.sampleLength.nanoseconds / 1e6)
            console.print(
                "Medians of \(plan.samples) samples of \(milliseconds) ms; half of them lie within the spread.\n")
        } else {
            console.print("As it was measured on \(host.date).\n")
        }
        ResultTable.lines(rows, styled: console.isStyled).forEach(console.print)

        let verdicts = rows.compactMap { row in row.benchmark.limit.verdict(on: row.row).map { (row.row.name, $0) } }
        let missed = verdicts.filter { $0.1 == .missed }.map(\.0)
        if verdicts.isEmpty { return }
        console.print(
            missed.isEmpty
                ? "\nAll limits are met (\(verdicts.count))."
                : "\n\(missed.count) of \(verdicts.count) limits missed: \(missed.joined(separator: ", ")).")
    }

    func print(
        _ comparison: Comparison, from earlier: MeasuredHost, to host: MeasuredHost, _ repeated: [String], isWhole: Bool
    ) {
        console.print("\nCompared with \(earlier.date), in ns/op:\n")
        ComparisonTable.lines(comparison, styled: console.isStyled).forEach(console.print)
        console.print("")
        if earlier.cpu != host.cpu || earlier.cores != host.cores {
            console.print("The earlier run was on another machine: \(earlier.cpu), \(earlier.cores) cores.")
        }
        if isWhole, !comparison.missing.isEmpty {
            console.print("Gone since then: \(comparison.missing.joined(separator: ", ")).")
        }
        if !repeated.isEmpty {
            console.print("Looked slower and measured again: \(repeated.joined(separator: ", ")).")
        }
        let slower = comparison.slower.map(\.after.name)
        console.print(slower.isEmpty ? "Nothing is slower." : "Slower: \(slower.joined(separator: ", ")).")
    }

    func check(_ report: Report, _ limits: AllocationLimits) -> Bool {
        let (checked, failures) = limits.check(report.results, among: suite.benchmarks.map(\.name))
        console.print("")
        failures.forEach(console.complain)
        if failures.isEmpty { console.print("Allocations: \(checked) limits checked, all hold.") }
        return failures.isEmpty
    }
}
