import Foundation
import LoaderChain

final class DemoShow: Sendable {
    private enum Way: Sendable {
        case live(LivePicture<DemoSnapshot>)
        case lines
        case silent
    }

    private let way: Way
    private let form: OutputForm
    private let surroundings: Surroundings
    private let style: Style

    init(_ form: OutputForm, in surroundings: Surroundings, _ settings: DemoSettings) {
        self.form = form
        self.surroundings = surroundings
        style = Style(isColoured: form == .screen && surroundings.mayColour)
        switch form {
        case .json: way = .silent
        case .screen where surroundings.mayMoveCursor:
            let key = ScreenKey(
                letter: "t", help: "turns the chain down, by a document that the demo API serves, and up again",
                words: { settings.isLow ? "turns up" : "turns down" }, press: { settings.turn() })
            way = .live(LivePicture(surroundings.liveScreen(style), stop: surroundings.stop, key: key))
        case .screen, .lines: way = .lines
        }
    }

    var interval: Duration {
        switch way {
        case .live: .milliseconds(100)
        case .lines, .silent: .seconds(1)
        }
    }

    func begin(_ chain: DemoChain) {
        guard case .lines = way else { return }
        surroundings.output.write(lines: [
            "A demo API listens on this machine, and a chain asks it:", "  \(chain.head)", "",
        ])
    }

    func show(_ snapshot: DemoSnapshot) {
        switch way {
        case .live(let picture): picture.show(snapshot, DemoView.screen)
        case .lines: surroundings.output.write(lines: [DemoView.line(snapshot)])
        case .silent: break
        }
    }

    /// Shows the moment at which the requests have ended, on a live screen alone.
    func showEnding(_ snapshot: DemoSnapshot) {
        if case .live = way { show(snapshot) }
    }

    func end(
        _ snapshot: DemoSnapshot, _ run: DemoRun, seed: UInt64, _ outcome: MetricStores.Outcome,
        _ complaints: [String]
    ) throws(ProgramError) {
        if case .live(let picture) = way { picture.end() }
        if form == .json {
            try surroundings.output.write(json: DemoReport(snapshot, run, seed: seed, outcome, complaints))
            return surroundings.complain(complaints)
        }
        let width = surroundings.output.width
        // A pipe has the routes by name.
        let isTerminal = surroundings.output.isTerminal
        let summary =
            [isTerminal ? DemoView.headline(snapshot) : ""]
            + DemoView.summary(snapshot, columns: width, isTerminal ? .worst : .given) + [""]
        surroundings.output.write(lines: summary.map { $0.text(style, columns: width) })
        var lines = outcome.lines.map { StyledLine($0, outcome.isFailure ? .bad : .strong) }
        if let file = outcome.file {
            lines.append(StyledLine("See them as a page:  apihealth report \(Plain.text(file.path))", .faint))
        }
        surroundings.output.write(lines: lines.map { $0.text(style) })
        surroundings.complain(complaints)
    }
}

private struct DemoReport: Encodable {
    struct Route: Encodable {
        var method: String
        var host: String
        var route: String
        var requests: Int
        var outcomes: [String: Int]
        var latency: Latency
        var histogram: Histogram
    }

    struct Histogram: Encodable {
        /// The bounds between the counts, one fewer than there are counts.
        var boundsInMilliseconds = LatencyBars.bounds
        var counts: [Int]
    }

    struct Loader: Encodable {
        var name: String
        var did: String
    }

    var seconds: Double
    var seed: UInt64
    var requests: Int
    var retries: Int
    var cancelled: Int
    var routes: [Route]
    var chain: [Loader]
    var file: MetricStores.FileResult?
    var influx: InfluxResult?
    var pointsLost: Int
    var failures: [String]

    init(
        _ snapshot: DemoSnapshot, _ run: DemoRun, seed: UInt64, _ outcome: MetricStores.Outcome, _ complaints: [String]
    ) {
        seconds = snapshot.elapsed / .seconds(1)
        self.seed = seed
        requests = snapshot.started
        retries = snapshot.retries
        cancelled = run.cancelled
        routes = snapshot.rows.map {
            Route(
                method: $0.method, host: $0.host, route: $0.route, requests: $0.summary.count,
                outcomes: $0.summary.outcomes, latency: Latency($0.summary.latency),
                histogram: Histogram(counts: $0.bars.counts))
        }
        chain = snapshot.nodes.map { Loader(name: $0.name, did: $0.text) }
        file = outcome.file
        influx = outcome.influx
        pointsLost = outcome.losses
        failures = complaints
    }
}
