import LoaderChain
import LoaderChainTesting
import Testing

@testable import APIHealthKit

/// The screens at the sizes of usual terminals.
@Suite(.timeLimit(.minutes(10))) struct ScreenSizeTests {
    static let sizes = [(80, 24), (120, 40), (200, 50)]

    /// Draws a screen as it is, as help, paused, without keys and while the program ends, and checks what holds for all.
    private static func screens(
        _ columns: Int, _ rows: Int, _ draw: (ScreenRoom) -> [StyledLine]
    ) throws -> [String] {
        var room = ScreenRoom(columns: columns, rows: rows)
        let whole = draw(room)
        room.choices.showsHelp = true
        #expect(text(draw(room)).contains("pauses the screen"))
        room.choices.showsHelp = false
        room.choices.isPaused = true
        #expect(text(draw(room)).hasSuffix("p goes on (paused)  ? helps"))
        room.hasKeys = false
        #expect(text(draw(room)).hasSuffix("\nCtrl-C quits"))
        room.isEnding = true
        #expect(text(draw(room)).hasSuffix("Ctrl-C once more ends at once"))
        for line in whole { #expect(line.width < columns, "\(line.width): \(text([line]))") }
        #expect(whole.count <= rows)
        let lines = whole.map { text([$0]) }
        #expect(lines.last == "q quits  s sorts (worst first)  p pauses  ? helps")
        return lines
    }

    @Test(arguments: sizes) func watchScreenFitsTerminal(columns: Int, rows: Int) throws {
        let timers = ManualTimers()
        let names = (1...41).map { "https://api-\($0).europe.example.com/v2/a/rather/long/path/to/health" }
        var state = WatchState(names, at: timers.now)
        for second in 0..<40 {
            timers.advance(by: .seconds(1))
            for index in names.indices {
                let verdict: WatchVerdict =
                    switch index {
                    case 30: .silent("DNS failure")
                    case 31: .silent("no secure connection")
                    case 32: second >= 20 ? .unexpected(503) : .healthy(.ok)
                    default: .healthy(.ok)
                    }
                _ = state.note(verdict, duration: .milliseconds(100 + index), of: index, at: timers.now)
            }
        }
        timers.advance(by: .seconds(612))
        let arguments = try WatchArguments(WatchArguments.syntax.parse(names))
        let lines = try Self.screens(columns, rows) {
            WatchView.screen(state, arguments, at: timers.now, in: $0)
        }
        #expect(lines[0].hasPrefix("apihealth  41 endpoints, 3 failing "))
        #expect(lines[0].hasSuffix("every 5 s, for 10 min 52 s"))
        #expect(lines[2].hasPrefix("  endpoint "))
        #expect(lines[3].contains("DNS failure for 10 min 51 s") && lines[3].contains("0 %"))
        #expect(lines[4].contains("no secure connection for 10 min 51 s"))
        #expect(lines[5].contains("503 for 10 min 31 s") && lines[5].contains("50 %"))
        #expect(lines[6].hasPrefix("● https://api-1.") || columns < 200)
        #expect(lines.contains { $0.contains("more, none failing") } == (rows < 46))
        #expect(lines[2].contains("the last 30") == (columns > 80))
    }

    @Test(arguments: sizes) func demoScreenFitsTerminal(columns: Int, rows: Int) throws {
        var snapshot = DemoSnapshot(
            address: "127.0.0.1:43947", elapsed: .milliseconds(9_900), duration: .seconds(10))
        snapshot.started = 12_345
        snapshot.retries = 1_234
        snapshot.pace = (0..<24).map { 10 + $0 }
        let timers = ManualTimers()
        let board = MetricBoard(timers: timers)
        for (index, endpoint) in DemoEndpoint.allCases.enumerated() {
            let request = endpoint.request(RandomSource(seed: 1))
            for count in 0..<1_200 {
                let isBad = endpoint == .payments && count > 10
                board.record(
                    .request(
                        HTTPMetric(
                            start: timers.date, duration: .milliseconds(count), method: request.method,
                            host: endpoint.host ?? "shop.example", route: "/v1/articles-\(index)/{id}",
                            outcome: isBad ? .rejected(.circuitOpen, by: "CircuitBreaker") : .response(200))))
            }
        }
        snapshot.rows = board.rows.map {
            var bars = LatencyBars()
            bars.record(.milliseconds(3))
            return DemoSnapshot.Row(
                method: $0.method.rawValue, host: $0.host, route: $0.route, summary: $0.summary,
                judgedLatency: $0.summary.latency, bars: bars, character: "rate-limited")
        }
        snapshot.nodes = (0..<9).map { .init(name: "Loader\($0)", text: "did something") }
        snapshot.nodes.append(.init(name: "URLSessionLoader", text: "12,345 sent, 4 in flight"))
        let lines = try Self.screens(columns, rows) { DemoView.screen(snapshot, in: $0) }
        #expect(lines[0].hasPrefix("apihealth  5 endpoints, 1 failing "))
        #expect(lines[0].hasSuffix("9.9 s of 10 s"))
        #expect(lines[1].hasPrefix("━"))
        #expect(lines[3].hasPrefix("requests 12,345"))
        #expect(lines[5].hasPrefix("route "))
        #expect(lines[6].contains("pay.example/v1/articles-4/{id}") && lines[6].contains("0.9 %"))
        #expect(lines.contains("--> URLSessionLoader  12,345 sent, 4 in flight"))
        #expect(lines[5].hasSuffix("failed") == (columns >= 120))
        #expect(lines.count == 24)
    }

    @Test func screensFitRowsOfTinyTerminal() {
        for (columns, rows) in [(1, 1), (2, 2), (20, 3), (40, 10)] {
            let room = ScreenRoom(columns: columns, rows: rows)
            let state = WatchState(["http://a.example/"], at: ManualTimers().now)
            let watch = WatchView.screen(state, WatchArguments(), at: state.start, in: room)
            let snapshot = DemoSnapshot(address: "127.0.0.1:1", elapsed: .zero, duration: .seconds(10))
            #expect(watch.count <= max(2, rows))
            #expect(DemoView.screen(snapshot, in: room).count <= max(2, rows))
        }
    }
}
