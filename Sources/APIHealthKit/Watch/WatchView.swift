import Foundation
import LoaderChain

/// Draws a watch as text.
enum WatchView {
    /// The whole screen of a live terminal.
    static func screen(
        _ state: WatchState, _ arguments: WatchArguments, at now: TimerInstant, columns: Int, rows: Int
    ) -> [StyledLine] {
        var head = StyledLine("apihealth", .strong)
        let count = arguments.endpoints.count
        let what = count == 1 ? "one endpoint" : "\(count) endpoints"
        head.add("  watches \(what) every \(DurationText.setting(arguments.interval))", .faint)
        let right = "\(DurationText.short(state.start.duration(to: now)))   Ctrl-C ends it"
        head.add(right, .faint, atEndOf: columns)
        // The cursor stands below, and the table has a title.
        let room = max(1, rows - 4)
        guard state.endpoints.count > room else {
            return [head, ""] + table(state.endpoints, at: now, columns: columns)
        }
        // What fails is never among those that have no room.
        let ranked = state.endpoints.sorted { rank($0) < rank($1) }
        let hidden = ranked.dropFirst(room - 1)
        let failing = hidden.count { $0.isHealthy == false }
        let rest = StyledLine(
            "  and \(NumberText.count(hidden.count)) more, of which \(failing == 0 ? "none fails" : "\(failing) fail")",
            failing == 0 ? .faint : .bad)
        return [head, ""] + table(Array(ranked.prefix(room - 1)), at: now, columns: columns) + [rest]
    }

    /// Endpoints that fail come first, then those that have not been checked.
    private static func rank(_ endpoint: WatchState.Endpoint) -> Int {
        endpoint.isHealthy.map { $0 ? 2 : 0 } ?? 1
    }

    private static func table(
        _ endpoints: [WatchState.Endpoint], at now: TimerInstant, columns: Int
    ) -> [StyledLine] {
        // The name gets what the other columns leave. A narrow terminal shows fewer of the latest checks.
        let shown = columns < 115 ? 10 : WatchState.recentCount
        let nameWidth = max(20, columns - shown - 62)
        var table = TextTable([
            ("  endpoint", .left), ("last", .left), ("time", .right), ("ok", .right), ("p50", .right), ("p99", .right),
            ("the last \(shown)", .left),
        ])
        for endpoint in endpoints {
            var name = lamp(endpoint)
            name.add(" " + Plain.fit(endpoint.name, to: nameWidth))
            var last = StyledLine(endpoint.last?.text ?? "…", role(endpoint.isHealthy))
            if endpoint.isHealthy == false {
                last.add(" for \(DurationText.short(endpoint.since.duration(to: now)))", .bad)
            }
            table.add([
                name, last, StyledLine(endpoint.checks > 0 ? DurationText.short(endpoint.lastDuration) : ""),
                share(endpoint), time(endpoint, 0.5), time(endpoint, 0.99), recent(endpoint, shown),
            ])
        }
        return table.lines
    }

    /// A column for each of the latest checks: a bar for its duration, or a cross where it failed.
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
    static func summary(_ state: WatchState, at now: TimerInstant, columns: Int = .max) -> [StyledLine] {
        let longest = state.endpoints.reduce(0) { max($0, $1.name.count) }
        let whole = summary(state, at: now, isNarrow: columns < narrow, nameWidth: longest)
        let excess = whole.reduce(0) { max($0, $1.width) } - columns
        guard excess > 0 else { return whole }
        return summary(state, at: now, isNarrow: columns < narrow, nameWidth: max(shortestName, longest - excess))
    }

    private static func summary(
        _ state: WatchState, at now: TimerInstant, isNarrow: Bool, nameWidth: Int
    ) -> [StyledLine] {
        var table = TextTable(titles, without: isNarrow ? ["p90", "max", "outages"] : [])
        for endpoint in state.endpoints {
            var name = lamp(endpoint)
            name.add(" " + Plain.fit(endpoint.name, to: nameWidth))
            let down = endpoint.downtime(by: now)
            table.add([
                name, StyledLine(NumberText.count(endpoint.checks)), share(endpoint), time(endpoint, 0.5),
                time(endpoint, 0.9), time(endpoint, 0.99), time(endpoint, 1),
                StyledLine(NumberText.count(endpoint.outages), endpoint.outages > 0 ? .bad : .plain),
                StyledLine(down >= .milliseconds(50) ? DurationText.short(down) : "–"),
                StyledLine(endpoint.last?.text ?? "not checked", role(endpoint.isHealthy)),
            ])
        }
        return table.lines
    }

    private static var shortestName: Int { 12 }
    /// The number of columns from which on all of the summary fits.
    private static var narrow: Int { 120 }

    private static let titles: [(title: String, side: TextTable.Side)] = [
        ("  endpoint", .left), ("checks", .right), ("ok", .right), ("p50", .right), ("p90", .right), ("p99", .right),
        ("max", .right), ("outages", .right), ("down for", .right), ("last", .left),
    ]

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

    private static func lamp(_ endpoint: WatchState.Endpoint) -> StyledLine {
        switch endpoint.isHealthy {
        case true?: StyledLine("●", .good)
        case false?: StyledLine("✗", .bad)
        case nil: StyledLine("○", .faint)
        }
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
