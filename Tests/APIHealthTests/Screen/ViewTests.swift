import LoaderChain
import LoaderChainTesting
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct ViewTests {
    private static let bars = [1, 0, 0, 5, 9, 0, 0, 3, 2, 0, 0, 0, 1]

    /// A moment of the demo that is the same on every machine.
    private static func snapshot() -> DemoSnapshot {
        let timers = ManualTimers()
        let board = MetricBoard(timers: timers)
        func record(
            _ host: String, _ method: HTTPMethod, _ route: String, _ milliseconds: Int, _ outcome: HTTPMetric.Outcome
        ) {
            board.record(
                .request(
                    HTTPMetric(
                        start: timers.date, duration: .milliseconds(milliseconds), method: method, host: host,
                        route: route,
                        outcome: outcome)))
        }
        for index in 1...100 { record("shop.example", .get, "/v1/articles/{id}", index, .response(200)) }
        for index in 1...9 { record("shop.example", .put, "/v1/cart", 10 * index, .response(index == 3 ? 503 : 200)) }
        for _ in 1...4 { record("pay.example", .get, "/v1/payments", 1, .rejected(.circuitOpen, by: "CircuitBreaker")) }
        var snapshot = DemoSnapshot(address: "127.0.0.1:8080", elapsed: .milliseconds(2_500), duration: .seconds(10))
        snapshot.started = 120
        snapshot.inFlight = 4
        snapshot.waitingForSlot = 2
        snapshot.waitingToRetry = 1
        snapshot.retries = 12
        snapshot.pace = [3, 6, 12, 0, 24]
        snapshot.rows = board.rows.map { row in
            var bars = LatencyBars()
            for (index, count) in Self.bars.enumerated() {
                let bound = index == 0 ? 0 : LatencyBars.bounds[index - 1]
                for _ in 0..<count { bars.record(.milliseconds(1) * bound) }
            }
            return DemoSnapshot.Row(
                method: row.method.rawValue, host: row.host, route: row.route, summary: row.summary, bars: bars,
                character: "healthy")
        }
        snapshot.nodes = [
            .init(name: "ResetGuard", text: "open"),
            .init(name: "Throttle", text: "at most 16 at once", role: .warning),
        ]
        return snapshot
    }

    private static func text(_ lines: [StyledLine], isColoured: Bool = false, columns: Int = .max) -> String {
        lines.map { $0.text(Style(isColoured: isColoured), columns: columns) }.joined(separator: "\n")
    }

    @Test func theDemoIsReadAtAGlance() {
        #expect(
            Self.text(DemoView.screen(Self.snapshot(), columns: 120)) == """
                apihealth  a chain against a demo API at 127.0.0.1:8080                                                   2.5 s of 10 s
                ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━─────────────────────────────────────────────────────────────────────────────────────────

                requests 120   in flight 4     waiting 3     retries 12    ▂▃▅ █ per half second

                route                              made to be  requests     ok     p50     p90     p99   1ms      5s+  came to nothing
                GET pay.example/v1/payments        healthy            4    0 %  1.0 ms  1.0 ms  1.0 ms  ▁  ▅█  ▃▂   ▁  4 refused
                GET shop.example/v1/articles/{id}  healthy          100  100 %   50 ms   89 ms  100 ms  ▁  ▅█  ▃▂   ▁
                PUT shop.example/v1/cart           healthy            9   89 %   50 ms   90 ms   90 ms  ▁  ▅█  ▃▂   ▁  1 5xx

                    ResetGuard  open
                --> Throttle    at most 16 at once
                """)
    }

    @Test func aNarrowTerminalHasRoomForThePicture() {
        #expect(
            Self.text(DemoView.table(Self.snapshot(), columns: 80)) == """
                route                          requests     ok     p50     p99   1ms      5s+
                pay.example/v1/payments               4    0 %  1.0 ms  1.0 ms  ▁  ▅█  ▃▂   ▁
                shop.example/v1/articles/{id}       100  100 %   50 ms  100 ms  ▁  ▅█  ▃▂   ▁
                shop.example/v1/cart                  9   89 %   50 ms   90 ms  ▁  ▅█  ▃▂   ▁
                """)
    }

    @Test func aLineForAPipeSaysTheSame() {
        #expect(
            DemoView.line(Self.snapshot())
                == "2.5 s  requests 120, in flight 4, waiting 3, retries 12, p50 49 ms, p99 100 ms")
    }

    @Test func colourChangesNoPlace() {
        let lines = DemoView.screen(Self.snapshot(), columns: 120)
        let coloured = Self.text(lines, isColoured: true)
        #expect(coloured.contains("\u{1B}[31m0 %\u{1B}[0m"))
        #expect(coloured.replacing(/\u{1B}\[[0-9]+m/, with: "") == Self.text(lines))
    }

    @Test func noLineIsLongerThanTheTerminal() {
        for columns in [20, 60, 80, 200] {
            let text = Self.text(DemoView.screen(Self.snapshot(), columns: columns), columns: columns)
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= columns })
        }
    }

    @Test func barsShowWhatTheyCount() {
        var bars = LatencyBars()
        for (index, count) in Self.bars.enumerated() {
            // Just below each bound, and far above the last.
            let milliseconds = index < LatencyBars.bounds.count ? LatencyBars.bounds[index] - 0.001 : 100_000
            for _ in 0..<count { bars.record(.milliseconds(1) * milliseconds) }
        }
        #expect(bars.counts == Self.bars)
        #expect(bars.text == "▁  ▅█  ▃▂   ▁")
        #expect(LatencyBars().text == "             ")
    }

    @Test func theWatchIsReadAtAGlance() throws {
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
        let screen = WatchView.screen(state, arguments, at: timers.now, columns: 120)
        #expect(
            Self.text(screen) == """
                apihealth  watches 3 endpoints every 5 s                                                        45.0 s   Ctrl-C ends it

                  endpoint                 last                    time    ok    p50    p99  the last 30
                ✗ http://a.example/health  503 for 5.00 s         40 ms  90 %  20 ms  40 ms  ▃▃▃▃▄▄▄▄▄×▅▅▅▅▆▆▆▆▆×▇▇▇▇█████×
                ✗ http://b.example/        timed out for 5.00 s  2.00 s   0 %      –      –  ×
                ○ http://c.example/        …                                –      –      –
                """)
        #expect(
            Self.text(WatchView.summary(state, at: timers.now)) == """
                  endpoint                 checks    ok    p50    p90    p99    max  outages  down for  last
                ✗ http://a.example/health      40  90 %  20 ms  36 ms  40 ms  40 ms        4    8.00 s  503
                ✗ http://b.example/             1   0 %      –      –      –      –        1    5.00 s  timed out
                ○ http://c.example/             0     –      –      –      –      –        0         –  not checked
                """)
    }

    @Test func theLiveScreenWritesOverItself() {
        let written = Written()
        let screen = LiveScreen(written.output(isTerminal: true, columns: 10, rows: 3), style: Style(isColoured: false))
        screen.show(["one", "two"])
        screen.show(["a line that is too long", "two", "three", "four"])
        screen.end()
        let clear = "\u{1B}[K\n"
        #expect(
            written.text == "\u{1B}[?25l" + "\r" + "one\(clear)two\(clear)\u{1B}[J"
                + "\u{1B}[2A\r" + "a line th\(clear)two\(clear)\u{1B}[J" + "\u{1B}[2A\r\u{1B}[J\u{1B}[?25h")
    }

    @Test func colourIsForTerminalsAndForThoseWhoWantIt() {
        func may(_ environment: [String: String], isTerminal: Bool) -> Bool {
            TestProgram(environment: environment, isTerminal: isTerminal).surroundings.mayColour
        }
        #expect(may([:], isTerminal: true))
        #expect(may(["NO_COLOR": ""], isTerminal: true))
        #expect(!may(["NO_COLOR": "1"], isTerminal: true))
        #expect(!may(["TERM": "dumb"], isTerminal: true))
        #expect(!may([:], isTerminal: false))
    }

    @Test func noTextSteersTheTerminal() {
        #expect(Plain.text("a\u{1B}[31m\nb\u{7F}\u{9B}\u{202E}ü") == "a?[31m?b???ü")
        #expect(Plain.fit("abcdefgh", to: 5) == "ab…gh")
        #expect(Plain.fit("abc", to: 3) == "abc")
        #expect(Plain.fit("abc", to: 1) == "a")
        #expect(Plain.fit("abc", to: 0) == "")
    }
}
