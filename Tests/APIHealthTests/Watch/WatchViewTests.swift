import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import APIHealthKit

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct WatchViewTests {
    @Test func screenAndSummaryShowEveryEndpoint() throws {
        let timers = ManualTimers()
        var state = WatchState(["http://a.example/health", "http://b.example/", "http://c.example/"], at: timers.now)
        for second in 1...40 {
            timers.advance(by: .seconds(1))
            let isUp = second % 10 != 0
            _ = state.note(
                isUp ? .healthy(.ok) : .unexpected(503), duration: .milliseconds(second), of: 0, at: timers.now)
        }
        _ = state.note(.silent("timed out"), duration: .seconds(2), of: 1, at: timers.now)
        timers.advance(by: .seconds(5))
        let arguments = try WatchArguments(
            WatchArguments.syntax.parse(["http://a.example/health", "http://b.example/", "http://c.example/"]))
        let screen = WatchView.screen(state, arguments, at: timers.now, in: ScreenRoom(columns: 120, rows: 40))
        #expect(
            text(screen) == """
                apihealth  3 endpoints, 2 failing                                                                 every 5 s, for 45.0 s

                  endpoint                 last                    time    ok    p50    p99  the last 30
                ✗ http://b.example/        timed out for 5.00 s  2.00 s   0 %      –      –  ×
                ✗ http://a.example/health  503 for 5.00 s         40 ms  90 %  20 ms  40 ms  ▃▃▃▃▄▄▄▄▄×▅▅▅▅▆▆▆▆▆×▇▇▇▇█████×
                ○ http://c.example/        …                                –      –      –

                q quits  s sorts (worst first)  p pauses  ? helps
                """)
        #expect(
            text(WatchView.summary(state, at: timers.now)) == """
                  endpoint                 checks    ok    p50    p90    p99    max  outages  down for  last
                ✗ http://a.example/health      40  90 %  20 ms  36 ms  40 ms  40 ms        4    8.00 s  503
                ✗ http://b.example/             1   0 %      –      –      –      –        1    5.00 s  timed out
                ○ http://c.example/             0     –      –      –      –      –        0         –  not checked
                """)
    }

    /// A watch of so many endpoints, of which the last fails, and none but the first three has been checked before.
    private static func watch(of count: Int, at timers: ManualTimers) throws -> (WatchState, WatchArguments) {
        let path = String(repeating: "x", count: 90)
        let names = (1...count).map { "http://endpoint-\($0).with-a-long-name.example/\(path)" }
        var state = WatchState(names, at: timers.now)
        for index in 0..<3 { _ = state.note(.healthy(.ok), duration: .milliseconds(5), of: index, at: timers.now) }
        _ = state.note(.silent("no secure connection"), duration: .seconds(2), of: count - 1, at: timers.now)
        return (state, try WatchArguments(WatchArguments.syntax.parse(names)))
    }

    @Test(arguments: [10, 24, 45, 46, 100])
    func failingEndpointIsListedFirstAtAnyHeight(rows: Int) throws {
        let timers = ManualTimers()
        let (state, arguments) = try Self.watch(of: 41, at: timers)
        let room = ScreenRoom(columns: 120, rows: rows)
        let lines = WatchView.screen(state, arguments, at: timers.now, in: room).map {
            $0.text(Style(isColoured: false))
        }
        #expect(lines.count == min(rows, 46))
        #expect(lines[0].hasPrefix("apihealth  41 endpoints, 1 failing "))
        #expect(lines[3].hasPrefix("✗ http://endpoint-41.w"))
        if rows < 46 { #expect(lines[rows - 3] == "  and \(47 - rows) more, none failing") }
    }

    /// The lines that a watch leaves on a terminal of so many columns, without colour.
    private static func end(
        _ state: WatchState, _ arguments: WatchArguments, at timers: ManualTimers, columns: Int
    ) throws -> [Substring] {
        var program = TestProgram(environment: ["TERM": "dumb"], timers: timers)
        program.surroundings.output = program.written.output(isTerminal: true, columns: columns)
        try WatchShow(arguments, in: program.surroundings).end(state, MetricStores.Outcome())
        return program.written.text.split(separator: "\n")
    }

    @Test(arguments: [60, 76, 80, 119, 120, 200])
    func summaryFitsTerminalWidth(columns: Int) throws {
        let timers = ManualTimers()
        let (state, arguments) = try Self.watch(of: 5, at: timers)
        timers.advance(by: .seconds(200_000))
        let lines = try Self.end(state, arguments, at: timers, columns: columns)
        #expect(lines.count == 7)
        #expect(lines.allSatisfy { $0.count <= columns }, "\(lines.map(\.count))")
        #expect(lines[0] == "apihealth  5 endpoints, 1 failing")
        #expect(lines[1].contains("p90") == (columns >= 119))
        #expect(lines[2].hasPrefix("✗") && lines[2].hasSuffix("no secure connection"))
    }

    @Test func summaryOfWidestCellsFitsTerminal() throws {
        let timers = ManualTimers()
        let name = "http://a.example/health"
        let arguments = try WatchArguments(WatchArguments.syntax.parse([name]))
        var state = WatchState([name], at: timers.now)
        for _ in 0..<999 { _ = state.note(.healthy(.ok), duration: .milliseconds(612), of: 0, at: timers.now) }
        _ = state.note(.silent("no secure connection"), duration: .seconds(2), of: 0, at: timers.now)
        timers.advance(by: .seconds(612))
        let lines = try Self.end(state, arguments, at: timers, columns: 80)
        #expect(
            lines == [
                "apihealth  1 endpoint, 1 failing",
                "  endpoint                     ok     p99     down for  last",
                "✗ http://a.example/health  99.9 %  612 ms  10 min 12 s  no secure connection",
            ])
    }

    @Test func connectionFailuresHaveDistinctTexts() {
        func words(_ code: HTTPError.Code, _ url: URLError.Code?, reason: String? = nil) -> String {
            let error = HTTPError(
                code, request: HTTPRequest(), underlyingError: url.map { URLError($0) }, reason: reason)
            return WatchVerdict(.failure(error), expected: .success).text
        }
        #expect(words(.cannotConnect, .cannotFindHost) == "DNS failure")
        #expect(words(.cannotConnect, .unknown, reason: "Could not resolve host: a.invalid") == "DNS failure")
        #expect(words(.cannotConnect, .cannotConnectToHost) == "connection refused")
        let proxys = "The proxy refused a tunnel to the host with status 403"
        #expect(words(.cannotConnect, nil, reason: proxys) == "cannot connect")
        #expect(words(.cannotConnect, nil, reason: "connect: No route to host") == "no route to host")
        #expect(words(.cannotConnect, nil, reason: "Network is unreachable") == "no route to host")
        #expect(words(.cannotConnect, nil, reason: "libcurl: Couldn't resolve proxy name (5)") == "DNS failure")
        // The name of a host is no reason.
        let failed = { (host: String, reason: String) in "Failed to connect to \(host) port 80 after 2 ms: \(reason)" }
        #expect(
            words(.cannotConnect, nil, reason: failed("resolver.example", "Connection refused"))
                == "connection refused")
        #expect(
            words(.cannotConnect, nil, reason: failed("unreachable.example", "Couldn't connect to server"))
                == "cannot connect")
        #expect(words(.cannotConnect, nil) == "cannot connect")
        #expect(words(.timedOut, .timedOut) == "timed out")
        #expect(words(.connectionLost, .networkConnectionLost) == "connection lost")
    }
}
