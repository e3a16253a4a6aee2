import LoaderChain
import LoaderChainTesting
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct DemoViewTests {
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
                method: row.method.rawValue, host: row.host, route: row.route, summary: row.summary,
                judgedLatency: row.summary.latency, bars: bars, character: "healthy")
        }
        snapshot.nodes = [
            .init(name: "ResetGuard", text: "open"),
            .init(name: "Throttle", text: "at most 16 at once", role: .warning),
        ]
        return snapshot
    }

    @Test func screenShowsRoutesAndChain() {
        #expect(
            text(DemoView.screen(Self.snapshot(), in: ScreenRoom(columns: 120, rows: 40))) == """
                apihealth  3 endpoints, 2 failing  demo API at 127.0.0.1:8080                                             2.5 s of 10 s
                ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━─────────────────────────────────────────────────────────────────────────────────────────

                requests 120   in flight 4     waiting 3     retries 12    ▂▃▅ █ per half second

                route                              made to be  requests     ok     p50     p90     p99   1ms      5s+  failed
                GET pay.example/v1/payments        healthy            4    0 %  1.0 ms  1.0 ms  1.0 ms  ▁  ▅█  ▃▂   ▁  4 refused
                PUT shop.example/v1/cart           healthy            9   89 %   50 ms   90 ms   90 ms  ▁  ▅█  ▃▂   ▁  1 5xx
                GET shop.example/v1/articles/{id}  healthy          100  100 %   50 ms   89 ms  100 ms  ▁  ▅█  ▃▂   ▁

                    ResetGuard  open
                --> Throttle    at most 16 at once

                q quits  s sorts (worst first)  p pauses  ? helps
                """)
    }

    @Test func narrowTableKeepsLatencyBars() {
        #expect(
            text(DemoView.table(Self.snapshot(), columns: 80)) == """
                route                          requests     ok     p50     p99   1ms      5s+
                pay.example/v1/payments               4    0 %  1.0 ms  1.0 ms  ▁  ▅█  ▃▂   ▁
                shop.example/v1/articles/{id}       100  100 %   50 ms  100 ms  ▁  ▅█  ▃▂   ▁
                shop.example/v1/cart                  9   89 %   50 ms   90 ms  ▁  ▅█  ▃▂   ▁
                """)
    }

    @Test func latencyConditionsIgnoreCancelledAndResetRequests() {
        let (timers, ledger) = (ManualTimers(), DemoLedger())
        let outcomes: [(Int, HTTPMetric.Outcome)] = [(5, .response(200)), (60_000, .cancelled), (60_000, .reset)]
        for (milliseconds, outcome) in outcomes {
            ledger.record(
                .request(
                    HTTPMetric(
                        start: timers.date, duration: .milliseconds(milliseconds), host: "a.example", route: "/",
                        outcome: outcome)))
        }
        #expect(ledger.counts.judgedLatencies.values.map(\.maximum) == [.milliseconds(5)])
        var latency = LatencyHistogram()
        latency.record(.milliseconds(5))
        let row = DemoSnapshot.Row(
            method: "GET", host: "a.example", route: "/", summary: MetricSummary(), judgedLatency: latency,
            bars: LatencyBars())
        #expect(row.measured.latency.maximum == .milliseconds(5))
    }

    @Test func plainLineSummarizesSnapshot() {
        #expect(
            DemoView.line(Self.snapshot())
                == "2.5 s  requests 120, in flight 4, waiting 3, retries 12, p50 49 ms, p99 100 ms")
    }

    @Test func colourKeepsLayout() {
        let lines = DemoView.screen(Self.snapshot(), in: ScreenRoom(columns: 120, rows: 40))
        let coloured = text(lines, isColoured: true)
        #expect(coloured.contains("\u{1B}[31m0 %\u{1B}[0m"))
        #expect(coloured.replacing(/\u{1B}\[[0-9]+m/, with: "") == text(lines))
    }

    @Test func summaryFitsTerminalWidth() {
        for columns in [20, 60, 80, 99, 100, 120, 200] {
            let summary = text(DemoView.summary(Self.snapshot(), columns: columns))
            if columns >= 60 {
                #expect(summary.split(separator: "\n").allSatisfy { $0.count <= columns }, "\(summary)")
            }
        }
    }
}
