import LoaderChain

enum DemoView {
    static func screen(_ snapshot: DemoSnapshot, in room: ScreenRoom) -> [StyledLine] {
        var head = headline(snapshot)
        let time = "\(seconds(snapshot.elapsed)) of \(DurationText.setting(snapshot.duration))"
        let address = "  demo API at \(snapshot.address)"
        if head.width + address.count + time.count + 2 < room.columns { head.add(address, .faint) }
        head.add(time, atEndOf: room.columns)
        return room.screen(
            [head, progress(snapshot, columns: room.usableColumns), "", numbers(snapshot, columns: room.usableColumns)]
                + [""] + table(snapshot, columns: room.usableColumns, room.choices.order) + [""] + nodes(snapshot))
    }

    /// The result that stays on the terminal.
    static func summary(
        _ snapshot: DemoSnapshot, columns: Int = .max, _ order: RowOrder = .given
    ) -> [StyledLine] {
        table(snapshot, columns: columns, order) + [""] + nodes(snapshot)
    }

    static func headline(_ snapshot: DemoSnapshot) -> StyledLine {
        Headline.line(count: snapshot.rows.count, failing: snapshot.rows.count(where: \.isFailing))
    }

    private static func progress(_ snapshot: DemoSnapshot, columns: Int) -> StyledLine {
        let bar = Blocks.progress(snapshot.elapsed / snapshot.duration, width: max(10, columns))
        var line = StyledLine(bar.done, .accent)
        line.add(bar.rest, .faint)
        return line
    }

    private static func numbers(_ snapshot: DemoSnapshot, columns: Int) -> StyledLine {
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
        // A narrow terminal has room for the latest bars.
        let unit = columns < 100 ? "" : " per half second"
        let pace = snapshot.pace.suffix(max(0, columns - line.width - unit.count))
        line.add(Blocks.text(pace.map(Double.init)), .accent)
        line.add(unit, .faint)
        return line
    }

    /// One line per route; a narrow terminal gets the most important columns.
    static func table(
        _ snapshot: DemoSnapshot, columns: Int = .max, _ order: RowOrder = .given
    ) -> [StyledLine] {
        var table = TextTable([
            .init("route", shrinks: true), .init("made to be", leaves: 1), .init("requests", .right),
            .init("ok", .right), .init("p50", .right, leaves: 4), .init("p90", .right, leaves: 2),
            .init("p99", .right), .init(LatencyBars.title, leaves: 5), .init("failed", leaves: 3),
        ])
        let rows = order.sorted(snapshot.rows) { row in
            RowOrder.Rank(
                name: row.host + row.route, state: row.isFailing ? 0 : 2, errorRatio: row.summary.errorRatio,
                latency: row.summary.latency.quantile(0.99) ?? .zero)
        }
        for row in rows {
            let summary = row.summary
            // A narrow terminal has no room for the methods.
            var name = StyledLine(columns < 100 ? "" : row.method + " ", .faint)
            name.add(Plain.text(row.host))
            name.add(Plain.text(row.route), .strong)
            table.add([
                name, StyledLine(row.character, .faint), StyledLine(NumberText.count(summary.count)), share(summary),
                time(summary, 0.5), time(summary, 0.9), time(summary, 0.99), StyledLine(row.bars.text, .accent),
                StyledLine(summary.failures, .faint),
            ])
        }
        return table.lines(in: columns)
    }

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
