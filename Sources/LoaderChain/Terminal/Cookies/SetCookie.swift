import LoaderChainPlatformFoundation

/// A `Set-Cookie` field, taken apart as RFC 6265bis (section 5.6) has it.
struct SetCookie: Hashable, Sendable {
    let name: String
    let value: Secret<String>
    /// When the cookie expires; nil if its life is that of the jar.
    var expiry: Date?
    /// The domain in lower case, without a dot before it; empty for none.
    var domain = ""
    /// The path; nil for the directory of the request's.
    var path: String?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: CookieJar.Cookie.SameSite?

    /// The most bytes of a name and a value together.
    static let longestPair = 4096
    /// The most bytes of an attribute's value.
    static let longestAttribute = 1024
    /// The longest time until a cookie expires: 400 days, as in the browsers.
    static let longestAge: Double = 400 * 86_400

    /// Parses a field's value, nil if the field has to be ignored; `serverDate` is the present by the server's clock.
    init?(_ field: String, now: Date, serverDate: Date) {
        guard !field.utf8.contains(where: ASCII.isForbiddenInValue) else { return nil }
        let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let (name, value) = Self.pair(parts[0]) ?? (Substring(), Self.text(parts[0]))
        guard !(name.isEmpty && value.isEmpty), name.utf8.count + value.utf8.count <= Self.longestPair else {
            return nil
        }
        self.name = String(name)
        self.value = Secret(String(value))
        var expires: Date?
        var maximumAge: Date?
        for part in parts.dropFirst() {
            let (name, value) = Self.pair(part) ?? (Self.text(part), Substring())
            guard value.utf8.count <= Self.longestAttribute else { continue }
            switch name.lowercased() {
            case "expires":
                if let date = CookieDate.date(value) {
                    expires = now.addingTimeInterval(min(date.timeIntervalSince(serverDate), Self.longestAge))
                }
            case "max-age":
                if let age = Self.age(value) { maximumAge = now.addingTimeInterval(age) }
            case "domain":
                domain = (value.hasPrefix(".") ? value.dropFirst() : value).lowercased()
            case "path":
                path = value.hasPrefix("/") ? String(value) : nil
            case "secure":
                isSecure = true
            case "httponly":
                isHTTPOnly = true
            case "samesite":
                sameSite = CookieJar.Cookie.SameSite(value)
            default:
                break
            }
        }
        expiry = maximumAge ?? expires
    }

    /// The seconds of a `Max-Age`, at most those of the longest age; nil if it is not a number.
    private static func age(_ text: Substring) -> Double? {
        let isNegative = text.hasPrefix("-")
        let seconds = ASCII.number((isNegative ? text.dropFirst() : text).utf8, most: Int(longestAge))
        return seconds.map { Double(isNegative ? -$0 : $0) }
    }

    /// The texts before and after the first equals sign, without blanks around; nil without an equals sign.
    private static func pair(_ part: Substring.UTF8View) -> (Substring, Substring)? {
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (text(part[..<equals]), text(part[equals...].dropFirst()))
    }

    private static func text(_ bytes: Substring.UTF8View.SubSequence) -> Substring { Substring(ASCII.trimmed(bytes)) }
}

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
        ASCII.number(token.prefix(while: ASCII.isDigit), digits: digits)
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
