import LoaderChainPlatformFoundation

/// A day of the Gregorian calendar in the years 0 to 9999, also of the time before that calendar was in use.
///
/// Foundation's calendars, `iso8601` among them, count the days before 15 October 1582 by the Julian calendar, which
/// HTTP and ISO 8601 do not.
package struct CalendarDay: Hashable, Sendable {
    private static let years = 0...9999

    package let year: Int
    /// From 1 to 12.
    package let month: Int
    /// From 1 on.
    package let day: Int

    /// The day of that date, or nil if the calendar has none.
    package init?(year: Int, month: Int, day: Int) {
        guard Self.years.contains(year), 1...12 ~= month, 1...Self.days(in: month, of: year) ~= day else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day of a number, as ``number`` counts; a number beyond the years 0 to 9999 gives the nearest day within.
    package init(number: Int) {
        let number = min(max(number, 0), Self.days(before: Self.years.upperBound + 1) - 1)
        // By the average length of a year the guess is right, or a year too late or too early near a new year.
        var year = number * 400 / Self.daysIn400Years
        if Self.days(before: year) > number { year -= 1 }
        if Self.days(before: year + 1) <= number { year += 1 }
        var rest = number - Self.days(before: year)
        var month = 1
        while rest >= Self.days(in: month, of: year) {
            rest -= Self.days(in: month, of: year)
            month += 1
        }
        self.year = year
        self.month = month
        day = rest + 1
    }

    /// How many days lie between 1 January of the year 0 and this one.
    package var number: Int {
        Self.days(before: year) + (1..<month).reduce(0) { $0 + Self.days(in: $1, of: year) } + day - 1
    }

    /// The day of the week, from 0 for Sunday; 1 January of the year 0 was a Saturday.
    var weekday: Int { (number + 6) % 7 }

    private static let daysIn400Years = 146_097

    /// The days of all years from 0 up to, but not including, a year that is not negative.
    private static func days(before year: Int) -> Int {
        // Rounded up, since the year 0 was a leap year.
        year * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// A second of a calendar day, in universal time.
struct CalendarTime: Hashable, Sendable {
    let day: CalendarDay

    /// How many seconds of the day have passed; one leap second may stand at its end.
    let second: Int

    init(_ day: CalendarDay, second: Int) {
        self.day = day
        self.second = second
    }

    /// The second in which a date falls; a date beyond the years 0 to 9999 gives the nearest second within.
    init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        // A date that is NaN has no second; the epoch is as good as any.
        let clamped = seconds.isNaN ? 0 : min(max(seconds, Double(Self.earliest)), Double(Self.latest))
        // 64 bits, which `Int` does not have on every platform.
        let passed = Int64(clamped) - Self.earliest
        self.init(CalendarDay(number: Int(passed / Self.secondsPerDay)), second: Int(passed % Self.secondsPerDay))
    }

    /// The date of this second's beginning.
    var date: Date {
        Date(timeIntervalSince1970: Double(Self.earliest + Int64(day.number) * Self.secondsPerDay + Int64(second)))
    }

    /// The second of a text of RFC 3339, such as `2026-12-24T18:00:00Z` or `2026-12-24T19:00:00.5+01:00`, and the part of
    /// a second that follows, in up to nine digits; nil for any other text.
    ///
    /// Foundation's parsers differ in what they accept, from system to system.
    static func date(rfc3339 text: String) -> (second: Date, fraction: Double)? {
        var scanner = FieldScanner(text)
        guard let year = scanner.takeNumber(4...4), scanner.take("-"), let month = scanner.takeNumber(2...2),
            scanner.take("-"), let dayOfMonth = scanner.takeNumber(2...2),
            let day = CalendarDay(year: year, month: month, day: dayOfMonth),
            scanner.take("T") || scanner.take("t") || scanner.take(" "), let second = scanner.takeClock()
        else { return nil }
        var fraction = 0.0
        if scanner.take(".") {
            let digits = scanner.take(while: ASCII.isDigit)
            guard 1...9 ~= digits.count else { return nil }
            fraction = Double("0." + String(decoding: digits, as: UTF8.self)) ?? 0
        }
        let date = CalendarTime(day, second: second).date
        if scanner.take("Z") || scanner.take("z") { return scanner.rest.isEmpty ? (date, fraction) : nil }
        let isBehind = scanner.take("-")
        guard isBehind || scanner.take("+"), let hours = scanner.takeNumber(2...2), scanner.take(":"),
            let minutes = scanner.takeNumber(2...2), scanner.rest.isEmpty, hours < 24, minutes < 60
        else { return nil }
        return (date.addingTimeInterval(Double((hours * 60 + minutes) * 60) * (isBehind ? 1 : -1)), fraction)
    }

    private static let secondsPerDay: Int64 = 86_400
    /// The first second of the year 0, counted from 1970.
    private static let earliest: Int64 = -62_167_219_200
    /// The last second of the year 9999, counted from 1970.
    private static let latest: Int64 = 253_402_300_799
}
