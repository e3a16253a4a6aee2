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
        line.add(time, atEndOf: columns)
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
        var table = TextTable(titles, without: isNarrow ? ["made to be", "p90", "came to nothing"] : [])
        for row in snapshot.rows {
            let summary = row.summary
            var name = StyledLine(isNarrow ? "" : row.method + " ", .faint)
            name.add(Plain.text(row.host))
            name.add(Plain.text(row.route), .strong)
            table.add([
                name, StyledLine(row.character, .faint), StyledLine(NumberText.count(summary.count)), share(summary),
                time(summary, 0.5), time(summary, 0.9), time(summary, 0.99), StyledLine(row.bars.text, .accent),
                StyledLine(summary.failures, .faint),
            ])
        }
        return table.lines
    }

    /// The number of columns from which on all of the table fits.
    private static var narrow: Int { 115 }

    private static let titles: [(title: String, side: TextTable.Side)] = [
        ("route", .left), ("made to be", .left), ("requests", .right), ("ok", .right), ("p50", .right), ("p90", .right),
        ("p99", .right), (LatencyBars.title, .left), ("came to nothing", .left),
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
        let ratio = summary.errorRatio
        return StyledLine(summary.goodShare, ratio == 0 ? .good : ratio < 0.1 ? .warning : .bad)
    }

    private static func time(_ summary: MetricSummary, _ part: Double) -> StyledLine {
        StyledLine(summary.latency.quantileText(part))
    }

    /// One line of progress, for a pipe.
    static func line(_ snapshot: DemoSnapshot) -> String {
        let latency = snapshot.total.latency
        return
            "\(seconds(snapshot.elapsed))  requests \(snapshot.started), in flight \(snapshot.inFlight), "
            + "waiting \(snapshot.waiting), retries \(snapshot.retries), "
            + "p50 \(latency.quantileText(0.5)), p99 \(latency.quantileText(0.99))"
    }

    private static func seconds(_ duration: Duration) -> String {
        NumberText.text(duration / .seconds(1), digits: 1) + " s"
    }
}
