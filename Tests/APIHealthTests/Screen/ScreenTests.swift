import LoaderChain
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct ScreenTests {
    @Test func durationsAreReadAsPeopleWriteThem() {
        let readings: [(String, Duration?)] = [
            ("500ms", .milliseconds(500)), ("5s", .seconds(5)), ("5", .seconds(5)), ("1.5s", .milliseconds(1_500)),
            ("2m", .seconds(120)), ("2min", .seconds(120)), ("1h", .seconds(3_600)), ("1d", .seconds(86_400)),
            ("", nil), ("s", nil), ("-1s", nil), ("1e3s", nil), ("inf", nil), ("1.2.3", nil), (".", nil), ("5 s", nil),
            ("9999999999", nil), ("5x", nil), ("٣s", nil),
        ]
        for (text, duration) in readings { #expect(DurationText.parse(text) == duration, "\(text)") }
    }

    @Test func durationsAreWrittenWithThreeDigits() {
        let texts: [(Duration, String)] = [
            (.zero, "0 ms"), (.microseconds(40), "0.0 ms"), (.microseconds(4_240), "4.2 ms"),
            (.microseconds(9_960), "10 ms"),
            (.milliseconds(12), "12 ms"), (.microseconds(999_600), "1.00 s"), (.milliseconds(1_590), "1.59 s"),
            (.milliseconds(12_340), "12.3 s"), (.seconds(60), "1 min"), (.seconds(125), "2 min 5 s"),
            (.seconds(3_600), "1 h"), (.seconds(9_000), "2 h 30 min"), (.seconds(200_000), "2 d 7 h"),
        ]
        for (duration, text) in texts { #expect(DurationText.short(duration) == text, "\(duration)") }
        #expect(DurationText.setting(.seconds(5)) == "5 s")
        #expect(DurationText.setting(.milliseconds(1_500)) == "1.5 s")
    }

    @Test func aPercentageIsNeverRoundedToAllOrNothing() {
        let texts = [(0, 0, "–"), (0, 9, "0 %"), (9, 9, "100 %"), (1, 10_000, "0.1 %"), (9_999, 10_000, "99.9 %")]
        for (part, whole, text) in texts { #expect(NumberText.percent(part, of: whole) == text) }
        #expect(NumberText.percent(989, of: 1_000) == "99 %")
        #expect(NumberText.percent(1, of: 3) == "33 %")
        #expect(NumberText.count(1_234_567) == "1,234,567")
        #expect(NumberText.count(-999) == "-999")
    }

    @Test func barsShowWhatTheyCount() {
        var bars = LatencyBars()
        let counts = [1, 0, 0, 5, 9, 0, 0, 3, 2, 0, 0, 0, 1]
        for (index, count) in counts.enumerated() {
            // Just below each bound, and far above the last.
            let milliseconds = index < LatencyBars.bounds.count ? LatencyBars.bounds[index] - 0.001 : 100_000
            for _ in 0..<count { bars.record(.milliseconds(1) * milliseconds) }
        }
        #expect(bars.counts == counts)
        #expect(bars.text == "▁  ▅█  ▃▂   ▁")
        #expect(LatencyBars().text == "             ")
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

    @Test func afterASuspensionTheLiveScreenLeavesWhatOthersWrote() {
        let written = Written()
        let suspensions = Locked(0)
        let screen = LiveScreen(written.output(isTerminal: true), style: Style(isColoured: false)) {
            suspensions.withLock(\.self)
        }
        screen.show(["one"])
        suspensions.withLock { $0 = 1 }
        screen.show(["never"])
        suspensions.withLock { $0 = 2 }
        screen.show(["two"])
        screen.show(["three"])
        let clear = "\u{1B}[K\n\u{1B}[J"
        #expect(
            written.text == "\u{1B}[?25l" + "\rone\(clear)" + "\u{1B}[?25l\rtwo\(clear)"
                + "\u{1B}[1A\rthree\(clear)")
    }

    @Test func aSuspensionThatBeginsWhileTheLiveScreenDrawsLeavesTheCursorShown() {
        let written = Written()
        let asked = Locked(0)
        // It begins just after the screen has asked for the second time: when it is made, and when it draws.
        let screen = LiveScreen(written.output(isTerminal: true), style: Style(isColoured: false)) {
            asked.withLock { asked in
                defer { asked += 1 }
                return asked < 2 ? 0 : 1
            }
        }
        screen.show(["one"])
        screen.show(["never"])
        #expect(written.text == "\u{1B}[?25l" + "\rone\u{1B}[K\n\u{1B}[J")
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
