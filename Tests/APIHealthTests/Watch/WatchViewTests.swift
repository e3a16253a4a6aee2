import LoaderChain
import LoaderChainTesting
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct WatchViewTests {
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
            text(screen) == """
                apihealth  watches 3 endpoints every 5 s                                                        45.0 s   Ctrl-C ends it

                  endpoint                 last                    time    ok    p50    p99  the last 30
                ✗ http://a.example/health  503 for 5.00 s         40 ms  90 %  20 ms  40 ms  ▃▃▃▃▄▄▄▄▄×▅▅▅▅▆▆▆▆▆×▇▇▇▇█████×
                ✗ http://b.example/        timed out for 5.00 s  2.00 s   0 %      –      –  ×
                ○ http://c.example/        …                                –      –      –
                """)
        #expect(
            text(WatchView.summary(state, at: timers.now)) == """
                  endpoint                 checks    ok    p50    p90    p99    max  outages  down for  last
                ✗ http://a.example/health      40  90 %  20 ms  36 ms  40 ms  40 ms        4    8.00 s  503
                ✗ http://b.example/             1   0 %      –      –      –      –        1    5.00 s  timed out
                ○ http://c.example/             0     –      –      –      –      –        0         –  not checked
                """)
    }
}
