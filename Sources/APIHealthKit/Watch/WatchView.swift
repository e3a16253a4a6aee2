import Foundation
import LoaderChain

enum WatchView {
    static func screen(
        _ state: WatchState, _ arguments: WatchArguments, at now: TimerInstant, in room: ScreenRoom
    ) -> [StyledLine] {
        var head = headline(state)
        let time = DurationText.short(state.start.duration(to: now))
        head.add("every \(DurationText.setting(arguments.interval)), for \(time)", .faint, atEndOf: room.columns)
        let endpoints = ranked(state, room.choices.order)
        // The head, an empty line and the table's title have lines of their own.
        let space = max(1, room.usableRows - 3)
        let shown = endpoints.count > space ? space - 1 : endpoints.count
        var lines = [head, ""] + table(Array(endpoints.prefix(shown)), at: now, columns: room.usableColumns)
        let hidden = endpoints.dropFirst(shown)
        if !hidden.isEmpty {
            let failing = hidden.count { $0.isHealthy == false }
            lines.append(
                StyledLine(
                    "  and \(NumberText.count(hidden.count)) more, \(Headline.failing(failing))",
                    failing == 0 ? .faint : .bad))
        }
        return room.screen(lines)
    }

    static func headline(_ state: WatchState) -> StyledLine {
        Headline.line(count: state.endpoints.count, failing: state.endpoints.count { $0.isHealthy == false })
    }

    private static func ranked(_ state: WatchState, _ order: RowOrder) -> [WatchState.Endpoint] {
        order.sorted(state.endpoints) { endpoint in
            RowOrder.Rank(
                name: endpoint.name,
                // What has not been checked comes after what fails.
                state: endpoint.isHealthy.map { $0 ? 2 : 0 } ?? 1,
                errorRatio: endpoint.checks > 0 ? 1 - Double(endpoint.healthy) / Double(endpoint.checks) : 0,
                latency: endpoint.latency.quantile(0.99) ?? .zero)
        }
    }

    private static func table(
        _ endpoints: [WatchState.Endpoint], at now: TimerInstant, columns: Int
    ) -> [StyledLine] {
        // A narrow terminal shows fewer of the latest checks.
        let shown = columns < 115 ? 10 : WatchState.recentCount
        var table = TextTable([
            .init("  endpoint", shrinks: true), .init("last"), .init("time", .right, leaves: 2), .init("ok", .right),
            .init("p50", .right, leaves: 1), .init("p99", .right, leaves: 4), .init("the last \(shown)", leaves: 3),
        ])
        for endpoint in endpoints {
            var last = StyledLine(endpoint.last?.text ?? "…", role(endpoint.isHealthy))
            if endpoint.isHealthy == false {
                last.add(" for \(DurationText.short(endpoint.since.duration(to: now)))", .bad)
            }
            table.add([
                name(endpoint), last, StyledLine(endpoint.checks > 0 ? DurationText.short(endpoint.lastDuration) : ""),
                share(endpoint), time(endpoint, 0.5), time(endpoint, 0.99), recent(endpoint, shown),
            ])
        }
        return table.lines(in: columns)
    }

    /// A column for each of the latest checks: a bar for its duration, or a cross if it failed.
    static func recent(_ endpoint: WatchState.Endpoint, _ count: Int) -> StyledLine {
        let recent = endpoint.recent.suffix(count)
        let longest = recent.filter(\.isHealthy).map(\.duration).max() ?? .zero
        var line = StyledLine()
        for check in recent {
            guard check.isHealthy else {
                line.add("×", .bad)
                continue
            }
            // A bar must not be too short to see.
            let part = longest > .zero ? check.duration / longest : 0
            line.add(Blocks.text([max(0.05, part), 1]).prefix(1).description, .good)
        }
        return line
    }

    /// The result that stays on the terminal; a narrow one gets the most important columns, and shorter names.
    static func summary(
        _ state: WatchState, at now: TimerInstant, columns: Int = .max, _ order: RowOrder = .given
    ) -> [StyledLine] {
        var table = TextTable([
            .init("  endpoint", shrinks: true), .init("checks", .right, leaves: 5), .init("ok", .right),
            .init("p50", .right, leaves: 4), .init("p90", .right, leaves: 1), .init("p99", .right, leaves: 6),
            .init("max", .right, leaves: 2), .init("outages", .right, leaves: 3), .init("down for", .right, leaves: 7),
            .init("last"),
        ])
        for endpoint in ranked(state, order) {
            let down = endpoint.downtime(by: now)
            table.add([
                name(endpoint), StyledLine(NumberText.count(endpoint.checks)), share(endpoint), time(endpoint, 0.5),
                time(endpoint, 0.9), time(endpoint, 0.99), time(endpoint, 1),
                StyledLine(NumberText.count(endpoint.outages), endpoint.outages > 0 ? .bad : .plain),
                StyledLine(down >= .milliseconds(50) ? DurationText.short(down) : "–"),
                StyledLine(endpoint.last?.text ?? "not checked", role(endpoint.isHealthy)),
            ])
        }
        return table.lines(in: columns)
    }

    static func line(_ verdict: WatchVerdict, _ endpoint: WatchState.Endpoint, at date: Date) -> StyledLine {
        var line = StyledLine(date.formatted(.iso8601) + "  ", .faint)
        line.add(Plain.pad(verdict.isHealthy ? "ok" : "BAD", to: 5), role(verdict.isHealthy))
        line.add(
            Plain.pad(verdict.text, to: 4) + "  " + Plain.padLeft(DurationText.short(endpoint.lastDuration), to: 7))
        line.add("  " + endpoint.name)
        return line
    }

    static func line(_ change: WatchState.Change, _ endpoint: WatchState.Endpoint, at date: Date) -> StyledLine {
        var line = StyledLine(date.formatted(.iso8601) + "  ", .faint)
        switch change {
        case .wentDown:
            line.add("DOWN ", .bad)
            line.add(" \(endpoint.name): \(endpoint.last?.text ?? "")")
        case .cameBack(let outage):
            line.add("UP   ", .good)
            line.add(" \(endpoint.name): healthy again after \(DurationText.short(outage))")
        }
        return line
    }

    private static func name(_ endpoint: WatchState.Endpoint) -> StyledLine {
        var line =
            switch endpoint.isHealthy {
            case true?: StyledLine("●", .good)
            case false?: StyledLine("✗", .bad)
            case nil: StyledLine("○", .faint)
            }
        line.add(" " + endpoint.name)
        return line
    }

    private static func role(_ isHealthy: Bool?) -> Role {
        isHealthy.map { $0 ? .good : .bad } ?? .faint
    }

    private static func share(_ endpoint: WatchState.Endpoint) -> StyledLine {
        let role: Role = endpoint.checks == 0 ? .faint : endpoint.healthy == endpoint.checks ? .good : .bad
        return StyledLine(NumberText.percent(endpoint.healthy, of: endpoint.checks), role)
    }

    private static func time(_ endpoint: WatchState.Endpoint, _ part: Double) -> StyledLine {
        StyledLine(endpoint.latency.quantileText(part))
    }
}
