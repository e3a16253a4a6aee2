import LoaderChainPlatformFoundation

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
///
/// Text and date are converted by counting days and seconds, without any locale or time zone.
package enum HTTPDate {
    /// The text of a date, rounded down to the second.
    ///
    /// A date outside the years 0 to 9999, for which the text has no room, becomes the nearest one within.
    package static func text(_ date: Date) -> String {
        let time = CalendarTime(date)
        let day = time.day
        let clock = [time.second / 3600, time.second / 60 % 60, time.second % 60].map { padded($0, to: 2) }
        return """
            \(weekdays[day.weekday].prefix(3)), \(padded(day.day, to: 2)) \(months[day.month - 1]) \
            \(padded(day.year, to: 4)) \(clock.joined(separator: ":")) GMT
            """
    }

    /// The date of a text in any of the three forms of HTTP, or nil if it has none of them.
    ///
    ///     Sun, 06 Nov 1994 08:49:37 GMT       the form to write
    ///     Sunday, 06-Nov-94 08:49:37 GMT      an obsolete one of RFC 850
    ///     Sun Nov  6 08:49:37 1994            an obsolete one of C's `asctime`
    ///
    /// It accepts deviations that leave no doubt: the case of letters, surplus spaces, a missing zero before the day, a
    /// hyphen for a space, a wrong weekday. It rejects days and times that do not exist, and time zones other than
    /// `GMT`. A leap second becomes the second after it.
    ///
    /// - Parameter now: the present, for years of two digits: the last such year that is not more than fifty years
    ///   ahead.
    package static func date(_ text: some StringProtocol, now: Date) -> Date? {
        var parser = HTTPDateParser(text, now: CalendarTime(now))
        return parser.time()?.date
    }

    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func padded(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
