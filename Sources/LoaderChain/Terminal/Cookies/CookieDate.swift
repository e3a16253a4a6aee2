import LoaderChainPlatformFoundation

/// Dates of cookies, read as RFC 6265bis (section 5.1.1) has it: by what their parts look like, in any order.
enum CookieDate {
    /// The date of a text; nil if it has no time, day, month and year that make one.
    static func date(_ text: some StringProtocol) -> Date? {
        var second: Int?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if second == nil, let time = time(token) {
                second = time
            } else if day == nil, let number = number(token, digits: 1...2) {
                day = number
            } else if month == nil, let number = self.month(token) {
                month = number
            } else if year == nil, let number = number(token, digits: 2...4) {
                year = number
            }
        }
        guard let second, second >= 0, let day, let month, var year else { return nil }
        switch year {
        case 70...99: year += 1900
        case 0...69: year += 2000
        default: break
        }
        guard year >= 1601, let day = CalendarDay(year: year, month: month, day: day) else { return nil }
        return CalendarTime(day, second: second).date
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The number at a token's beginning, if it has that many digits; what follows them is left out.
    private static func number(_ token: some Collection<UInt8>, digits: ClosedRange<Int>) -> Int? {
        let number = token.prefix(while: ASCII.isDigit)
        guard digits.contains(number.count) else { return nil }
        return number.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// The second of the day of a token such as `08:49:37`; negative if it has the form and there is no such time.
    private static func time(_ token: some Collection<UInt8>) -> Int? {
        let fields = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard fields.count >= 3, fields[0].allSatisfy(ASCII.isDigit), fields[1].allSatisfy(ASCII.isDigit),
            let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
            let second = number(fields[2], digits: 1...2)
        else { return nil }
        return hour < 24 && minute < 60 && second < 60 ? (hour * 60 + minute) * 60 + second : -1
    }

    private static func month(_ token: some Collection<UInt8>) -> Int? {
        let name = String(decoding: token.prefix(3), as: UTF8.self)
        return HTTPDate.months.firstIndex { ASCII.isEqualIgnoringCase(name, $0) }.map { $0 + 1 }
    }
}
