import Testing

@testable import MetricKitReporting

@Suite(.timeLimit(.minutes(10))) struct LocalizedNumberTests {
    /// The value of a text together with others, in the unit of its quantity.
    private func amount(_ text: String, learning others: [String] = []) throws -> Double? {
        let document = try JSONDocument(Array(JSONTree.array((others + [text]).map { .string($0) }).text.utf8))
        let context = PayloadContext(document.root)
        let node = try #require(Array(document.root.elements).last)
        let quantities: [MeasureUnit.Quantity] = [.time, .bytes, .bars, .luminance, .instructions, .hitchRatio]
        return quantities.compactMap { context.amount(node, $0)?.double }.first
    }

    @Test(
        arguments: [
            // Texts from public payloads.
            ("1,530毫秒", 1.53), ("79 041 кБ", 79_041_000), ("20 secs.", 20), ("2,000 byte", 2_000), ("1000 ms", 1),
            ("50 apl", 50),
            ("3 bars", 3), ("100 kiloinstructions", 100_000), ("12.5 ms per s", 12.5),
            // Spaces of every width, apostrophes, and invisible marks.
            ("1\u{A0}530 ms", 1.53), ("1\u{202F}530,5 ms", 1.5305), ("1'530.25 ms", 1.53025), ("1’530 ms", 1.53),
            ("\u{200F}1٬530\u{A0}\u{200F}ms", 1.53), ("ms", nil), ("\u{A0}7\u{A0}sec\u{A0}", 7),
            // Each separator disambiguates the other.
            ("1,234.5 ms", 1.2345), ("1.234,5 ms", 1.2345), ("1,234,567 byte", 1_234_567),
            ("1.234.567 byte", 1_234_567),
            ("12,34,567.5 kB", 1_234_567_500), ("1 234 567,25 кБ", 1_234_567_250),
            // A fraction of a length other than three, or without digits before it, is unambiguous.
            ("12,5 ms", 0.0125), ("12.25 sec", 12.25), ("0,125 sec", 0.125), ("0.125 sec", 0.125),
            ("1234,567 sec", 1234.567),
            ("1,5 kB", 1_500),
            // No system prints a fraction that ends with a zero.
            ("1,500 sec", 1_500), ("1.500 sec", 1_500), ("20.0 sec", 20),
            // Integers have no fraction, and the names of some languages disambiguate.
            ("1,234 byte", 1_234), ("1.234 byte", 1_234), ("1,234毫秒", 1.234), ("1.234毫秒", 0.001234),
            ("1,234 мсек", 0.001234), ("1.234 mili giây", 1.234),
            // Chechen has this name too, and writes fractions with a point.
            ("1,234 мс", nil),
            // Names that precede their numbers, and only there.
            ("sekunde 1,530.5", 1530.5), ("baiti 2,000", 2_000), ("ms 20", 0.02), ("2,000 baiti ʻe", nil),
            ("20 තත්", nil),
            ("sekunde -5", nil), ("sekunde 5 5", nil), ("sekunde", nil), ("sekunde 5 sekunde", nil),
            // Digits of other scripts.
            ("١٬٥٣٠٫٥ ms", 1.5305), ("۲۰ sec", 20), ("१,२३४.५ ms", 1.2345), ("２０秒", 20),
            // Ambiguous or invalid texts.
            ("1,234 ms", nil), ("1.234 ms", nil), ("999,999 kB", nil), ("1,23,4 ms", nil), ("1.234,567,8 ms", nil),
            ("1,2,3 ms", nil), ("01,234 ms", 0.001234), ("1234,5678,9 ms", nil), ("1٢ ms", nil), ("٢1 ms", nil),
            ("20", nil), ("20 parsecs", nil), ("20 KB", 20_000), ("", nil), ("apl 20", nil), ("1e3 ms", nil),
            ("--5 ms", nil),
            ("1..5 ms", nil), ("1 . 5 ms", nil), (",5 ms", nil), ("NaN ms", nil), ("∞ ms", nil), ("½ sec", nil),
            ("-5 ms", nil),
            ("99999999999999999999999999999999999999999999 ms", nil), ("12,34,56 ms", nil), ("1 23 ms", nil),
        ] as [(String, Double?)])
    func onlyUnambiguousNumbersAreRead(_ text: String, _ expected: Double?) throws {
        #expect(try amount(text) == expected)
    }

    @Test(
        arguments: [
            ("1,234 ms", ["20.5 sec"], 1.234), ("1,234 ms", ["20,5 sec"], 0.001234), ("1.234 ms", ["20,5 sec"], 1.234),
            ("1,234 ms", ["1,234,567 byte"], 1.234), ("1,234 ms", ["1 000 ms"], 0.001234),
            ("1,234 ms", ["2,000 ms"], 1.234),
            ("1,234 ms", ["5毫秒"], 1.234), ("1,234 ms", ["5 сек."], 0.001234), ("1.234 ms", ["5 сек."], 1.234),
            // If another number of as many digits has no separator, this separator does not group thousands.
            ("1,234 ms", ["1000 ms"], 0.001234), ("12,345 ms", ["1000 ms"], nil), ("1.500 ms", ["20000 ms"], 0.0015),
            // Unknown units are not evidence, nor are contradictions.
            ("1,234 ms", ["20.5 furlongs"], nil), ("1,234 ms", ["20.5 sec", "20,5 sec"], nil),
            ("1,500 ms", ["20.5 sec", "20,5 sec"], nil),
        ] as [(String, [String], Double?)])
    func otherNumbersResolveAmbiguousNumber(_ text: String, _ others: [String], _ expected: Double?) throws {
        #expect(try amount(text, learning: others) == expected)
    }

    /// The name of the second in one language may be that of the hour in another.
    @Test(
        arguments: [
            ("20 saat", [], nil), ("20 saat", ["3 bars", "50 apl"], nil), ("20 saat", ["5 kB"], nil),
            // Malay has these, but Azerbaijani does not; the reverse; and no language has both.
            ("20 saat", ["5 ms"], 20), ("20 saat", ["5 bait", "3 bars"], 20), ("20 saat", ["5 msan"], 72_000),
            ("20 saat", ["5 ms", "5 msan"], nil), ("20 ساعت", ["5 ثانیه"], 72_000), ("20 ساعت", ["5 byte"], nil),
            // Neither Russian nor Chechen, according to the table.
            ("20 с.", [], nil), ("20 с.", ["5 мс"], nil),
        ] as [(String, [String], Double?)])
    func ambiguousUnitNeedsOtherUnits(_ text: String, _ others: [String], _ expected: Double?) throws {
        #expect(try amount(text, learning: others) == expected)
    }

    @Test func expectedQuantityResolvesUnit() throws {
        let root = try JSONDocument(Array(#"["5 t",{"value":5,"unit":"t"},{"value":5,"unit":"saat"}]"#.utf8)).root
        let context = PayloadContext()
        for node in root.elements.prefix(2) {
            #expect(context.amount(node, .time)?.double == 18_000)
            #expect(context.amount(node, .bytes)?.double == 5)
            #expect(context.amount(node, .bars) == nil)
        }
        #expect(root.elements.compactMap { context.time($0) } == [.seconds(18_000), .seconds(18_000)])
    }

    @Test func durationConversionIsExact() throws {
        let document = try JSONDocument(
            Array(
                #"["0.000000000000000001 s","1234567.890123456789 sec","3 h",{"value":0.1,"unit":"ms"},"-1 s","1e40 s"]"#
                    .utf8))
        let context = PayloadContext(document.root)
        let times = document.root.elements.map { context.time($0) }
        #expect(times[0] == Duration(secondsComponent: 0, attosecondsComponent: 1))
        #expect(times[1] == Duration(secondsComponent: 1_234_567, attosecondsComponent: 890_123_456_789_000_000))
        #expect(times[2] == .seconds(10_800))
        #expect(times[3] == .microseconds(100))
        #expect(times[4] == nil)
        #expect(times[5] == nil)
    }

    @Test func decimalsKeepTheirDigits() {
        func number(_ text: String) -> DecimalNumber? { DecimalNumber(literal: text.utf8) }
        #expect(number("120")?.int == 120)
        #expect(number("1.2e2")?.int == 120)
        #expect(number("120.0")?.int == 120)
        #expect(number("-1")?.int == -1)
        #expect(number("0e99999999999")?.int == 0)
        #expect(number("1.5")?.int == nil)
        #expect(number("9223372036854775808")?.int == nil)
        #expect(number("1e999999999999999999999")?.double == nil)
        #expect(number("18446744073709551615")?.nearestInteger == Int128(UInt64.max))
        #expect(number("0.1")?.double == 0.1)
        #expect(number("123456789.123456789123456789")?.double == 123456789.123456789123456789)
        #expect(number("2.5")?.nearestInteger == 3)
        #expect(number("-2.5")?.nearestInteger == -3)
        #expect(number("0.3333333333333333333333333333333333333333333333333333")?.double == 1.0 / 3)
    }
}
