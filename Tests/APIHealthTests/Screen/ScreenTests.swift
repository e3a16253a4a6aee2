import LoaderChain
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct ScreenTests {
    @Test func durationTextParsesUsualUnits() {
        let readings: [(String, Duration?)] = [
            ("500ms", .milliseconds(500)), ("5s", .seconds(5)), ("5", .seconds(5)), ("1.5s", .milliseconds(1_500)),
            ("2m", .seconds(120)), ("2min", .seconds(120)), ("1h", .seconds(3_600)), ("1d", .seconds(86_400)),
            ("", nil), ("s", nil), ("-1s", nil), ("1e3s", nil), ("inf", nil), ("1.2.3", nil), (".", nil), ("5 s", nil),
            ("9999999999", nil), ("5x", nil), ("٣s", nil),
        ]
        for (text, duration) in readings { #expect(DurationText.parse(text) == duration, "\(text)") }
    }

    @Test func durationTextHasAtMostThreeDigits() {
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

    @Test func percentageIsNotRoundedToZeroOrHundred() {
        let texts = [(0, 0, "–"), (0, 9, "0 %"), (9, 9, "100 %"), (1, 10_000, "0.1 %"), (9_999, 10_000, "99.9 %")]
        for (part, whole, text) in texts { #expect(NumberText.percent(part, of: whole) == text) }
        #expect(NumberText.percent(989, of: 1_000) == "99 %")
        #expect(NumberText.percent(1, of: 3) == "33 %")
        #expect(NumberText.count(1_234_567) == "1,234,567")
        #expect(NumberText.count(-999) == "-999")
    }

    @Test func latencyBarsShowTheirCounts() {
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

    @Test func liveScreenOverwritesItselfAndRestoresTerminal() {
        let written = Written()
        let screen = LiveScreen(written.output(isTerminal: true, columns: 10, rows: 2), style: Style(isColoured: false))
        screen.show(["one", "two"])
        screen.show(["a line that is too long", "two", "three"])
        screen.end()
        screen.end()
        screen.show(["never"])
        let clear = "\u{1B}[K"
        #expect(
            written.text == "\u{1B}[?1049h\u{1B}[?25l" + "\u{1B}[Hone\(clear)\ntwo\(clear)\u{1B}[J"
                + "\u{1B}[Ha line th\(clear)\ntwo\(clear)\u{1B}[J" + "\u{1B}[H\u{1B}[J\u{1B}[?1049l\u{1B}[?25h")
    }

    @Test func suspendAndResumeSwitchScreenAndKeys() {
        let written = Written()
        let modes = Written()
        let output = modes.output()
        let keys = Keys(
            areThere: true, begin: { output.write("begin ") }, end: { output.write("end ") }, take: { [] })
        let screen = LiveScreen(written.output(isTerminal: true), style: Style(isColoured: false), keys: keys)
        // What was never entered is not left.
        screen.suspend()
        screen.show(["never"])
        screen.resume()
        #expect(written.text == "")
        screen.show(["one"])
        screen.suspend()
        screen.show(["never"])
        screen.resume()
        screen.show(["two"])
        screen.end()
        screen.resume()
        screen.show(["never"])
        let (enter, leave) = ("\u{1B}[?1049h\u{1B}[?25l\u{1B}[H", "\u{1B}[H\u{1B}[J\u{1B}[?1049l\u{1B}[?25h")
        #expect(
            written.text == enter + "one\u{1B}[K\u{1B}[J" + leave + enter + "two\u{1B}[K\u{1B}[J" + leave)
        #expect(modes.text == "begin end begin end ")
    }

    @Test func keysChangeScreenChoices() {
        var choices = ScreenChoices()
        choices.take(Array("sS".utf8))
        #expect(choices.order == .name)
        choices.take(Array("ss".utf8))
        #expect(choices == ScreenChoices())
        choices.take(Array("p?x\n".utf8) + [0xFF])
        #expect((choices.isPaused, choices.showsHelp, choices.wantsEnd) == (true, true, false))
        // An arrow is not the letter in its sequence.
        choices.take([0x1B] + Array("Oq".utf8))
        #expect(!choices.wantsEnd)
        choices.take(Array("phq".utf8))
        #expect((choices.isPaused, choices.showsHelp, choices.wantsEnd) == (false, false, true))
    }

    @Test func pausedScreenKeepsMomentAndQRequestsStop() {
        let written = Written()
        let pressed = Locked<[UInt8]>([])
        let keys = Keys(areThere: true, begin: {}, end: {}) { pressed.withLock { replace(&$0, with: []) } }
        let stop = StopSign()
        let screen = LiveScreen(written.output(isTerminal: true), style: Style(isColoured: false), keys: keys)
        let picture = LivePicture<Int>(screen, stop: stop)
        for (moment, keys) in [(1, ""), (2, "p"), (3, "s"), (4, "p"), (5, "q")] {
            pressed.withLock { $0 = Array(keys.utf8) }
            picture.show(moment) { [StyledLine("\($0) \($1.choices.order)\($1.isEnding ? " ending" : "")")] }
        }
        picture.end()
        let frames = written.text.components(separatedBy: "\u{1B}[H").dropFirst().dropLast()
        #expect(
            frames.map { $0.components(separatedBy: "\u{1B}")[0] } == [
                "1 worst", "2 worst", "2 slowest", "4 slowest", "5 slowest ending",
            ])
        #expect(stop.isRequested)
    }

    @Test func keyOfOneScreenIsPressedAndNamed() {
        let written = Written()
        let pressed = Locked<[UInt8]>([])
        let keys = Keys(areThere: true, begin: {}, end: {}) { pressed.withLock { replace(&$0, with: []) } }
        let screen = LiveScreen(written.output(isTerminal: true), style: Style(isColoured: false), keys: keys)
        let count = Locked(0)
        let key = ScreenKey(
            letter: "t", help: "turns", words: { "turned \(count.withLock(\.self))" },
            press: { count.withLock { $0 += 1 } })
        let picture = LivePicture<Int>(screen, stop: StopSign(), key: key)
        for keys in ["t", "Tst", "\u{1B}Ot", "?"] {
            pressed.withLock { $0 = Array(keys.utf8) }
            picture.show(1) { $1.screen([]) }
        }
        picture.end()
        #expect(count.withLock(\.self) == 3)
        #expect(written.text.contains("  p pauses  t turned 1  ? helps"))
        #expect(written.text.contains("  t        turns\u{1B}[K"))
    }

    @Test func rowsAreSortedByChosenOrder() {
        let rows = [
            RowOrder.Rank(name: "b", state: 2, errorRatio: 0, latency: .seconds(3)),
            RowOrder.Rank(name: "d", state: 2, errorRatio: 0.5, latency: .seconds(1)),
            RowOrder.Rank(name: "a", state: 2, errorRatio: 0, latency: .seconds(1)),
            RowOrder.Rank(name: "c", state: 0, errorRatio: 0.1, latency: .seconds(2)),
        ]
        let names = RowOrder.allCases.map { $0.sorted(rows) { $0 }.map(\.name).joined() }
        #expect(names == ["cdba", "bcda", "abcd", "bdac"])
    }

    @Test func narrowTableDropsColumnsAndShortensName() {
        var table = TextTable([
            .init("name", shrinks: true), .init("first", leaves: 2), .init("second", .right, leaves: 1), .init("third"),
        ])
        table.add([StyledLine(String(repeating: "n", count: 20) + "end of it"), "1", "2", "3"])
        #expect(text(table.lines(in: 48)).hasSuffix("end of it  1           2  3"))
        #expect(text(table.lines(in: 38)).hasSuffix("\n\(String(repeating: "n", count: 12))…nnend of it  1      3"))
        #expect(text(table.lines(in: 37)).hasSuffix("nend of it  3"))
        for width in 10...60 {
            #expect(table.lines(in: width).allSatisfy { $0.width <= width }, "\(width)")
        }
    }

    @Test func colourIsUsedOnlyOnTerminalsThatAllowIt() {
        func may(_ environment: [String: String], isTerminal: Bool) -> Bool {
            TestProgram(environment: environment, isTerminal: isTerminal).surroundings.mayColour
        }
        #expect(may([:], isTerminal: true))
        #expect(may(["NO_COLOR": ""], isTerminal: true))
        #expect(!may(["NO_COLOR": "1"], isTerminal: true))
        #expect(!may(["TERM": "dumb"], isTerminal: true))
        #expect(!may([:], isTerminal: false))
    }

    @Test func plainTextEscapesControlCharactersAndFits() {
        #expect(Plain.text("a\u{1B}[31m\nb\u{7F}\u{9B}\u{202E}ü") == #"a\u{1B}[31m\nb\u{7F}\u{009B}\u{202E}ü"#)
        #expect(Plain.fit("abcdefgh", to: 5) == "ab…gh")
        #expect(Plain.fit("abc", to: 3) == "abc")
        #expect(Plain.fit("abc", to: 1) == "a")
        #expect(Plain.fit("abc", to: 0) == "")
    }
}
