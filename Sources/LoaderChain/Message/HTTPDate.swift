import LoaderChainPlatformFoundation

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
///
/// Text and date are converted by counting days and seconds, without any locale or time zone.
package enum HTTPDate {
    /// The text of a date, rounded down to the second; for a year outside 0 to 9999, which it cannot hold, that of the nearest date within.
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
    package static func date(_ text: String, now: Date) -> Date? {
        var scanner = FieldScanner(text)
        scanner.rest = ASCII.trimmed(scanner.rest)
        return scanner.time(now: CalendarTime(now))?.date
    }

    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func padded(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension FieldScanner {
    /// The time of the text, or nil if it is not exactly a date.
    fileprivate mutating func time(now: CalendarTime) -> CalendarTime? {
        guard takeWeekday() else { return nil }
        guard let time = take(",") ? timeAfterComma(now: now) : timeOfClock(), rest.isEmpty else { return nil }
        return time
    }

    /// Reads ` 06 Nov 1994 08:49:37 GMT`, and the same with hyphens or two digits of a year.
    private mutating func timeAfterComma(now: CalendarTime) -> CalendarTime? {
        skipBlanks()
        guard let day = takeNumber(1...2), takeSeparator() else { return nil }
        guard let month = takeMonth(), takeSeparator() else { return nil }
        let yearDigits = rest.prefix(while: ASCII.isDigit).count
        guard yearDigits == 2 || yearDigits == 4, let year = takeNumber(2...4), skipBlanks() else { return nil }
        guard let second = takeClock(), skipBlanks(), ASCII.isEqualIgnoringCase(takeWord(), "GMT") else { return nil }
        guard yearDigits == 2 else { return time(year, month, day, second) }
        return time(lastTwoDigits: year, month, day, second, now: now)
    }

    /// Reads ` Nov  6 08:49:37 1994`.
    private mutating func timeOfClock() -> CalendarTime? {
        guard skipBlanks(), let month = takeMonth() else { return nil }
        guard skipBlanks(), let day = takeNumber(1...2) else { return nil }
        guard skipBlanks(), let second = takeClock() else { return nil }
        guard skipBlanks(), let year = takeNumber(4...4) else { return nil }
        return time(year, month, day, second)
    }

    private func time(_ year: Int, _ month: Int, _ day: Int, _ second: Int) -> CalendarTime? {
        CalendarDay(year: year, month: month, day: day).map { CalendarTime($0, second: second) }
    }

    /// Uses the last year that ends with the digits and is not more than fifty years ahead.
    private func time(
        lastTwoDigits digits: Int, _ month: Int, _ day: Int, _ second: Int, now: CalendarTime
    ) -> CalendarTime? {
        let latest = now.day.year + 50
        let year = latest - (latest - digits + 100) % 100
        let isTooLate = year == latest && (month, day, second) > (now.day.month, now.day.day, now.second)
        return time(isTooLate ? year - 100 : year, month, day, second)
    }
}

// MARK: - The pieces

extension FieldScanner {
    /// Takes a weekday, whole or its first three letters.
    private mutating func takeWeekday() -> Bool {
        let word = takeWord()
        return HTTPDate.weekdays.contains {
            ASCII.isEqualIgnoringCase(word, $0) || ASCII.isEqualIgnoringCase(word, String($0.prefix(3)))
        }
    }

    /// Takes the first three letters of a month, and returns its number from one.
    private mutating func takeMonth() -> Int? {
        let word = takeWord()
        return HTTPDate.months.firstIndex { ASCII.isEqualIgnoringCase(word, $0) }.map { $0 + 1 }
    }

    private mutating func takeWord() -> String {
        String(decoding: take { UInt8(ascii: "a")...UInt8(ascii: "z") ~= ASCII.lowercased($0) }, as: UTF8.self)
    }

    private mutating func takeSeparator() -> Bool { take("-") || skipBlanks() }
}

/// How long a server asks its clients to wait: `Retry-After` in either form, or the milliseconds of `retry-after-ms` or
/// `x-amz-retry-after`, which go first because they are exact.
package enum RetryAfter {
    /// The longest delay that a server can request: some thirty years, which any clock can add to its present.
    private static let longest: Int64 = 1_000_000_000

    /// The delay that a response requests, zero if it requests none, or in no form of HTTP; `now` is read only for a date.
    package static func delay(of response: HTTPResponse?, now: @autoclosure () -> Date) -> Duration {
        guard let headers = response?.headers else { return .zero }
        for name in ["retry-after-ms", "x-amz-retry-after"] {
            if let number = headers.values(for: name).first.flatMap(Self.number) { return .milliseconds(number) }
        }
        guard let text = headers.values(for: "Retry-After").first else { return .zero }
        if let seconds = Self.number(text) { return .seconds(seconds) }
        let now = headers.serverDate(now: now())
        guard let date = HTTPDate.date(text, now: now) else { return .zero }
        return .seconds(min(max(0, date.timeIntervalSince(now)), Double(longest)))
    }

    static func isGiven(by response: HTTPResponse?) -> Bool {
        guard let headers = response?.headers else { return false }
        return ["Retry-After", "retry-after-ms", "x-amz-retry-after"].contains { headers.contains($0) }
    }

    /// The number of the text, if it consists of digits only; at most the longest delay in seconds.
    private static func number(_ text: String) -> Int64? { ASCII.number(ASCII.trimmed(text.utf8), most: longest) }
}

extension HTTPHeaders {
    /// Whether the response comes from a cache, and says how the server was then.
    var areStored: Bool {
        let age: Int64? = self["Age"].flatMap { ASCII.number(ASCII.trimmed($0.utf8), most: .max) }
        return age ?? 0 > 0
    }

    /// The present by the server's clock, so that clocks that differ do no harm; by this machine's, if the response does not
    /// tell it, or comes from a cache.
    func serverDate(now: Date) -> Date {
        areStored ? now : self["Date"].flatMap { HTTPDate.date($0, now: now) } ?? now
    }
}
