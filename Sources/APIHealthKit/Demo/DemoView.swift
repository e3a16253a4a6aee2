import LoaderChain

/// Draws the demo as text.
enum DemoView {
    /// The whole screen of a live terminal.
    static func screen(_ snapshot: DemoSnapshot, columns: Int) -> [StyledLine] {
        var lines = [headline(snapshot, columns: columns), progress(snapshot, columns: columns), ""]
        lines += [numbers(snapshot), ""]
        lines += table(snapshot, columns: columns) + [""]
        lines += nodes(snapshot)
        return lines
    }

    /// The result that stays on the terminal.
    static func summary(_ snapshot: DemoSnapshot, columns: Int = .max) -> [StyledLine] {
        table(snapshot, columns: columns) + [""] + nodes(snapshot)
    }

    private static func headline(_ snapshot: DemoSnapshot, columns: Int) -> StyledLine {
        var line = StyledLine("apihealth", .strong)
        line.add("  a chain against a demo API at \(snapshot.address)", .faint)
        let time = "\(seconds(snapshot.elapsed)) of \(DurationText.setting(snapshot.duration))"
        line.pad(to: columns - 2 - time.count)
        line.add(" " + time)
        return line
    }

    private static func progress(_ snapshot: DemoSnapshot, columns: Int) -> StyledLine {
        let bar = Blocks.progress(snapshot.elapsed / snapshot.duration, width: max(10, columns - 1))
        var line = StyledLine(bar.done, .accent)
        line.add(bar.rest, .faint)
        return line
    }

    private static func numbers(_ snapshot: DemoSnapshot) -> StyledLine {
        var line = StyledLine()
        func add(_ name: String, _ value: Int, _ role: Role = .strong, width: Int = 4) {
            line.add(name + " ", .faint)
            line.add(Plain.pad(NumberText.count(value), to: width), role)
            line.add("  ")
        }
        add("requests", snapshot.started)
        add("in flight", snapshot.inFlight)
        add("waiting", snapshot.waiting, snapshot.waiting > 0 ? .warning : .strong)
        add("retries", snapshot.retries)
        line.add(Blocks.text(snapshot.pace.map(Double.init)), .accent)
        line.add(" per half second", .faint)
        return line
    }

    /// One line per route; a narrow terminal gets the most important columns.
    static func table(_ snapshot: DemoSnapshot, columns: Int = .max) -> [StyledLine] {
        let isNarrow = columns < narrow
        var table = TextTable(isNarrow ? narrowColumns : wideColumns)
        for row in snapshot.rows {
            let summary = row.summary
            var name = StyledLine(isNarrow ? "" : row.method + " ", .faint)
            name.add(Plain.text(row.host))
            name.add(Plain.text(row.route), .strong)
            let count = StyledLine(NumberText.count(summary.count))
            let bars = StyledLine(row.bars.text, .accent)
            table.add(
                isNarrow
                    ? [name, count, share(summary), time(summary, 0.5), time(summary, 0.99), bars]
                    : [
                        name, StyledLine(row.character, .faint), count, share(summary), time(summary, 0.5),
                        time(summary, 0.9), time(summary, 0.99), bars, StyledLine(summary.failures, .faint),
                    ])
        }
        return table.lines
    }

    /// The number of columns from which on all of the table fits.
    private static var narrow: Int { 115 }

    private static let wideColumns: [(title: String, side: TextTable.Side)] = [
        ("route", .left), ("made to be", .left), ("requests", .right), ("ok", .right), ("p50", .right), ("p90", .right),
        ("p99", .right), (LatencyBars.title, .left), ("came to nothing", .left),
    ]

    private static let narrowColumns: [(title: String, side: TextTable.Side)] = [
        ("route", .left), ("requests", .right), ("ok", .right), ("p50", .right), ("p99", .right),
        (LatencyBars.title, .left),
    ]

    private static func nodes(_ snapshot: DemoSnapshot) -> [StyledLine] {
        let width = snapshot.nodes.reduce(0) { max($0, $1.name.count) }
        return snapshot.nodes.enumerated().map { index, node in
            var line = StyledLine(index == 0 ? "    " : "--> ", .faint)
            line.add(Plain.pad(node.name, to: width + 2), .strong)
            line.add(node.text, node.role)
            return line
        }
    }

    private static func share(_ summary: MetricSummary) -> StyledLine {
        let text = NumberText.percent(summary.good, of: summary.judged)
        let ratio = summary.errorRatio
        return StyledLine(text, ratio == 0 ? .good : ratio < 0.1 ? .warning : .bad)
    }

    private static func time(_ summary: MetricSummary, _ part: Double) -> StyledLine {
        StyledLine(summary.latency.quantile(part).map(DurationText.short) ?? "–")
    }

    /// One line of progress, for a pipe.
    static func line(_ snapshot: DemoSnapshot) -> String {
        let total = snapshot.total
        let p50 = total.latency.quantile(0.5).map(DurationText.short) ?? "–"
        let p99 = total.latency.quantile(0.99).map(DurationText.short) ?? "–"
        return
            "\(seconds(snapshot.elapsed))  requests \(snapshot.started), in flight \(snapshot.inFlight), "
            + "waiting \(snapshot.waiting), retries \(snapshot.retries), p50 \(p50), p99 \(p99)"
    }

    private static func seconds(_ duration: Duration) -> String {
        NumberText.text(duration / .seconds(1), digits: 1) + " s"
    }
}
