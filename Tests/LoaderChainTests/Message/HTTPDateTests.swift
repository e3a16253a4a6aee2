import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct HTTPDateTests {
    /// The date of the standard's examples, which is 6 November 1994.
    static let example: TimeInterval = 784_111_777
    /// The same time of the day in 2026.
    static let now = Date(timeIntervalSince1970: 1_793_954_977)

    static func seconds(_ text: String, now: Date = now) -> TimeInterval? {
        HTTPDate.date(text, now: now)?.timeIntervalSince1970
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        (-0.5, "Wed, 31 Dec 1969 23:59:59 GMT"), (784_111_777.9, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
        (.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"), (-.infinity, "Sat, 01 Jan 0000 00:00:00 GMT"),
        (1e300, "Fri, 31 Dec 9999 23:59:59 GMT"), (-1e300, "Sat, 01 Jan 0000 00:00:00 GMT"),
        (.nan, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ])
    func dateIsFormattedAndClamped(_ seconds: Double, _ text: String) {
        #expect(HTTPDate.text(Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "  Sun,06 Nov 1994\t08:49:37  GMT ", "sUN, 6 nOV 1994 08:49:37 gmt", "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 06 Nov 94 08:49:37 GMT", "Sun Nov 06 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT",
    ])
    func everyFormIsParsed(_ text: String) {
        #expect(Self.seconds(text) == Self.example)
    }

    @Test(arguments: [
        "", " ", "Sun", "Sun,", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 GMT x",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 006 Nov 1994 08:49:37 GMT",
        "Tue, 29 Feb 1900 00:00:00 GMT", "Tue, 30 Feb 2000 00:00:00 GMT", "Sun, 06 November 1994 08:49:37 GMT",
        "Sun, 06 Nov 994 08:49:37 GMT", "Sun, 06 Nov 11994 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT",
        "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 06Nov1994 08:49:37 GMT", "Sun Nov  6 08:49:37 94",
        "Sun Nov  6 08:49:37 1994 GMT", "Sun Nov6 08:49:37 1994", "Sun, 06 Nov 1994 ０8:49:37 GMT", "784111777",
        "Sun, 99999999999999999999 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
    ])
    func invalidTextIsRejected(_ text: String) {
        #expect(Self.seconds(text) == nil)
    }

    @Test func leapSecondIsReadAsNextSecond() {
        #expect(Self.seconds("Sat, 31 Dec 2016 23:59:60 GMT") == Self.seconds("Sun, 01 Jan 2017 00:00:00 GMT"))
        #expect(Self.seconds("Fri, 31 Dec 9999 23:59:60 GMT") == 253_402_300_800)
    }

    @Test(arguments: [
        // What is said in 1994, to the second fifty years ahead and a second more, a day more, a month more.
        ("Sun, 06 Nov 1994 08:49:37 GMT", "06-Nov-44 08:49:37", 2044),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "06-Nov-44 08:49:38", 1944),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "07-Nov-44 00:00:00", 1944),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "01-Dec-44 00:00:00", 1944),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "31-Oct-44 23:59:59", 2044),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "01-Jan-45 00:00:00", 1945),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "01-Jan-93 00:00:00", 1993),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "29-Feb-00 00:00:00", 2000),
        ("Thu, 31 Dec 2099 00:00:00 GMT", "01-Jan-00 00:00:00", 2100),
        ("Thu, 31 Dec 2099 00:00:00 GMT", "01-Jan-99 00:00:00", 2099),
        ("Thu, 29 Feb 2024 12:00:00 GMT", "28-Feb-74 12:00:00", 2074),
        ("Thu, 29 Feb 2024 12:00:00 GMT", "01-Mar-74 00:00:00", 1974),
        ("Sat, 01 Jan 0000 00:00:00 GMT", "01-Jan-50 00:00:00", 50),
    ])
    func twoDigitYearIsAtMostFiftyYearsAhead(_ now: String, _ text: String, _ year: Int) throws {
        let now = try #require(HTTPDate.date(now, now: Self.now))
        let date = try #require(HTTPDate.date("Sunday, \(text) GMT", now: now))
        #expect(CalendarTime(date).day.year == year)
    }

    @Test func twoDigitYearOutsideCalendarIsRejected() {
        let (first, last) = (Date(timeIntervalSince1970: -.infinity), Date(timeIntervalSince1970: .infinity))
        #expect(Self.seconds("Sunday, 01-Jan-51 00:00:00 GMT", now: first) == nil)
        #expect(Self.seconds("Sunday, 01-Jan-00 00:00:00 GMT", now: last) == nil)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func everyFormRoundTrips(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<1_000 {
            // From the first second of the year 1 to the last one of the year 9999.
            let date = Date(
                timeIntervalSince1970: Double(Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator)))
            let text = HTTPDate.text(date)
            let words = text.split(separator: " ")
            let (weekday, day, month, year, clock) = (words[0].dropLast(), words[1], words[2], words[3], words[4])
            let spaced = day.first == "0" ? " \(day.dropFirst())" : "\(day)"
            #expect(HTTPDate.date(text, now: Self.now) == date, "seed \(seed): \(text)")
            #expect(
                HTTPDate.date("\(weekday) \(month) \(spaced) \(clock) \(year)", now: Self.now) == date, "seed \(seed)")
            // Less than fifty years away from now on either side, two digits are enough.
            let now = date.addingTimeInterval(Double.random(in: -1.5e9...1.5e9, using: &generator))
            let longWeekday = HTTPDate.weekdays.first { $0.hasPrefix(weekday) } ?? ""
            let short = "\(longWeekday), \(day)-\(month)-\(year.suffix(2)) \(clock) GMT"
            #expect(HTTPDate.date(short, now: now) == date, "seed \(seed): \(short)")
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func damagedTextDoesNotTrap(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let texts = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        let loaded = Array("0123456789 ,:-GMTSunNov\t\0é".utf8) + [0xFF]
        for _ in 0..<2_000 {
            var bytes = Array((texts.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = loaded.randomElement(using: &generator) ?? 0
                case 1: bytes.insert(loaded.randomElement(using: &generator) ?? 0, at: place)
                default: bytes.removeSubrange(place..<min(bytes.count - 1, place + 4))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let date = HTTPDate.date(text, now: Self.now) else { continue }
            // What is taken for a date is one that can be written, and comes back.
            #expect(HTTPDate.date(HTTPDate.text(date), now: Self.now) == date, "seed \(seed): \(text)")
        }
    }
}
