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

    /// Takes a field's value apart; nil if the field is to be ignored.
    init?(_ field: String, now: Date) {
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
                if let date = CookieDate.date(value) { expires = min(date, now.addingTimeInterval(Self.longestAge)) }
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
        let digits = isNegative ? text.dropFirst() : text
        guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        // A number of a thousand digits is infinite, and so more than the longest age.
        let seconds = min(Double(digits) ?? longestAge, longestAge)
        return isNegative ? -seconds : seconds
    }

    /// What is before and after the first equals sign, without blanks around; nil without one.
    private static func pair(_ part: Substring.UTF8View) -> (Substring, Substring)? {
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (text(part[..<equals]), text(part[equals...].dropFirst()))
    }

    private static func text(_ bytes: Substring.UTF8View.SubSequence) -> Substring { Substring(ASCII.trimmed(bytes)) }
}
