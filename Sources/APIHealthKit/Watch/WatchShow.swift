import Foundation
import LoaderChain

final class WatchShow: Sendable {
    private let arguments: WatchArguments
    private let surroundings: Surroundings
    private let style: Style
    private let picture: LivePicture<Moment>?

    private struct Moment: Sendable {
        let state: WatchState
        let time: TimerInstant
    }

    init(_ arguments: WatchArguments, in surroundings: Surroundings) {
        self.arguments = arguments
        self.surroundings = surroundings
        style = Style(isColoured: arguments.form != .json && surroundings.mayColour)
        let isLive = arguments.form == .screen && !arguments.isQuiet && surroundings.mayMoveCursor
        picture = isLive ? LivePicture(surroundings.liveScreen(style), stop: surroundings.stop) : nil
    }

    /// How often to redraw the screen; nil for never.
    var interval: Duration? { picture == nil ? nil : .milliseconds(100) }

    func begin() {
        guard picture == nil, arguments.form != .json, !arguments.isQuiet else { return }
        let every = arguments.count == 1 ? "once" : "every \(DurationText.setting(arguments.interval))"
        write(StyledLine("Checking \(every), expecting \(arguments.expected):", .faint))
        for endpoint in arguments.endpoints { write(StyledLine("  \(endpoint.name)")) }
    }

    func show(_ state: WatchState, at now: TimerInstant) {
        picture?.show(Moment(state: state, time: now)) { [arguments] moment, room in
            WatchView.screen(moment.state, arguments, at: moment.time, in: room)
        }
    }

    /// Shows the result of one check.
    func note(
        _ verdict: WatchVerdict, _ change: WatchState.Change?, _ endpoint: WatchState.Endpoint,
        _ phases: TransferPhases? = nil, at date: Date
    ) {
        guard picture == nil, arguments.form != .json, verdict != .none else { return }
        if !arguments.isQuiet {
            var line = WatchView.line(verdict, endpoint, at: date)
            if arguments.showsPhases, let phases { line.add("  \(phases)", .faint) }
            write(line)
        }
        // The line about the failed check was just written.
        if let change, arguments.isQuiet || change != .wentDown { write(WatchView.line(change, endpoint, at: date)) }
    }

    func end(
        _ state: WatchState, _ outcome: MetricStores.Outcome, _ complaints: [String] = []
    ) throws(ProgramError) {
        picture?.end()
        let now = surroundings.timers.now
        if arguments.form == .json {
            try surroundings.output.write(json: WatchReport(state, outcome, complaints, at: now))
            return surroundings.complain(complaints)
        }
        if !arguments.isQuiet, picture == nil { write("") }
        let width = surroundings.output.width
        // A pipe has the endpoints as they were given.
        if surroundings.output.isTerminal { write(WatchView.headline(state), columns: width) }
        let order: RowOrder = surroundings.output.isTerminal ? .worst : .given
        for line in WatchView.summary(state, at: now, columns: width, order) { write(line, columns: width) }
        for line in outcome.lines { write(StyledLine(line)) }
        surroundings.complain(complaints)
    }

    private func write(_ line: StyledLine, columns: Int = .max) {
        surroundings.output.write(line.text(style, columns: columns) + "\n")
    }
}

private struct WatchReport: Encodable {
    struct Endpoint: Encodable {
        var url: String
        var checks: Int
        var healthy: Int
        var cancelled: Int
        var missed: Int
        var outages: Int
        var secondsDown: Double
        var isHealthy: Bool?
        var last: String?
        var latency: Latency
    }

    var seconds: Double
    var isAllHealthy: Bool
    var endpoints: [Endpoint]
    var file: MetricStores.FileResult?
    var influx: InfluxResult?
    var pointsLost: Int
    var failures: [String]

    init(_ state: WatchState, _ outcome: MetricStores.Outcome, _ complaints: [String], at now: TimerInstant) {
        seconds = state.start.duration(to: now) / .seconds(1)
        isAllHealthy = state.isAllHealthy
        endpoints = state.endpoints.map {
            Endpoint(
                url: $0.name, checks: $0.checks, healthy: $0.healthy, cancelled: $0.cancelled, missed: $0.missed,
                outages: $0.outages, secondsDown: $0.downtime(by: now) / .seconds(1), isHealthy: $0.isHealthy,
                last: $0.last?.text, latency: Latency($0.latency))
        }
        file = outcome.file
        influx = outcome.influx
        pointsLost = outcome.losses
        failures = complaints
    }
}
