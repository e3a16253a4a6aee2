import LoaderChainPlatformFoundation

/// The state of a quota, by one response.
struct QuotaReport: Hashable, Sendable {
    enum Unit: Hashable, Sendable {
        /// Each request counts as one.
        case requests
        /// Each request counts as many as its ``HTTPRequest/cost``.
        case cost
    }

    /// The name of the quota; empty if the server has only one.
    var name: String
    /// The user or group of addresses that the quota is for, as far as the server says.
    var partition = ""
    var unit = Unit.requests
    var remaining: Int64
    /// How much there is in a whole window; nil if the server does not say.
    var limit: Int64?
    /// The time until the quota is whole again.
    var timeLeft: Duration
    /// The length of a window; nil if the server does not say.
    var window: Duration?
    /// By how much the quota may be whole again later than ``timeLeft`` says, because that was rounded.
    var rounding: Duration

    /// The quotas that a response reports, at most eight; none if it reports nothing that can be believed.
    ///
    /// - Parameter now: the present, from which an instant is a time, unless the response has a date of its own.
    static func reports(in headers: HTTPHeaders, now: @autoclosure () -> Date) -> [QuotaReport] {
        guard headers.contains(where: { $0.mayReportQuota }) else { return [] }
        guard !headers.areStored else { return [] }
        return QuotaReader(headers, now: now()).reports
    }
}

extension HTTPResponse {
    /// Whether the response may report a quota, or ask for a pause.
    var mayReportQuota: Bool {
        status.asksToWait || headers.contains { $0.mayReportQuota }
    }
}

extension HTTPHeaders.Field {
    fileprivate var mayReportQuota: Bool {
        ASCII.contains(name, lowercase: "limit")
            && (ASCII.contains(name, lowercase: "ratelimit") || ASCII.contains(name, lowercase: "rate-limit"))
    }
}

/// Reads the fields about quotas in all of their dialects.
///
/// | Fields | Example | Reset |
/// |---|---|---|
/// | `RateLimit`, `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-08 to -11 | `"day";r=50;t=30`, `"day";q=100;w=60` | seconds left |
/// | `RateLimit` of draft 07 | `limit=100, remaining=50, reset=30` | seconds left |
/// | `RateLimit-Limit`, `-Remaining`, `-Reset` of earlier drafts | `100`, `50`, `30` | seconds left |
/// | `X-RateLimit-Limit`, `-Remaining`, `-Reset`, also spelled `X-Rate-Limit-…` | `100`, `50`, `30` | any |
/// | the same with the name of a quota behind | `X-RateLimit-Remaining-Tokens: 9000`, `X-RateLimit-Reset-Tokens: 6m0s` | any |
/// | the same with the name before, and a vendor's prefix | `anthropic-ratelimit-tokens-remaining: 9000` | any |
///
/// A reset in "any" form is a number of seconds below a billion, an instant in seconds or milliseconds since 1970, a duration such
/// as `1h30m`, `1.5s` or `20ms`, a date of RFC 3339 or a date of HTTP. An instant is compared with the `Date` of the response, so
/// that clocks that differ do no harm. What is negative, in the past, longer than a month, or not of these forms is ignored with
/// its quota.
private struct QuotaReader {
    /// What is known of a quota before all its fields are read.
    private struct Parts {
        var partition = ""
        var unit: QuotaReport.Unit?
        var isOfAnotherKind = false
        var remaining: Int64?
        var limit: Int64?
        var reset: ResetTime?
        var window: Duration?
    }

    private static let most = 8
    private let clock: Date
    private var names: [String] = []
    private var parts: [String: Parts] = [:]
    /// What a vendor says of the part of its service that its fields are about.
    private var partition = ""

    init(_ headers: HTTPHeaders, now: Date) {
        clock = headers.serverDate(now: now)
        for field in headers where field.mayReportQuota && field.value.utf8.count <= 2_000 { read(field) }
    }

    /// The quotas of which enough is known, in the order of their fields.
    var reports: [QuotaReport] {
        names.compactMap { name in
            guard let parts = parts[name], !parts.isOfAnotherKind, let remaining = parts.remaining else { return nil }
            // A quota that is named after its window may have no time of its own.
            let window = parts.window ?? (parts.reset == nil ? Self.window(of: name) : nil)
            guard let reset = parts.reset ?? window.map({ ResetTime(left: $0, rounding: .zero) }) else { return nil }
            return QuotaReport(
                name: name, partition: parts.partition.isEmpty ? partition : parts.partition,
                unit: parts.unit ?? Self.unit(of: name), remaining: remaining,
                limit: parts.limit.flatMap { $0 >= remaining ? $0 : nil }, timeLeft: reset.left, window: window,
                rounding: reset.rounding)
        }
    }

    private mutating func read(_ field: HTTPHeaders.Field) {
        let name = field.name.lowercased().replacing("rate-limit", with: "ratelimit")
        let words = name.split(separator: "-").drop { !$0.hasSuffix("ratelimit") }.dropFirst().map(String.init)
        if words == ["policy"] { return readPolicies(field.value) }
        if words.isEmpty { return readCounters(field.value) }
        if words == ["resource"] || words == ["bucket"] { return partition = String(field.value.prefix(100)) }
        guard let index = words.firstIndex(where: { ["limit", "remaining", "reset"].contains($0) }) else { return }
        let quota = words.enumerated().filter { $0.offset != index && $0.element != "after" }.map(\.element)
        change(quota.joined(separator: "-")) { [clock] parts in
            switch words[index] {
            case "limit": parts.limit = Self.amount(field.value)
            case "remaining": parts.remaining = Self.amount(field.value)
            default: parts.reset = ResetTime(field.value, now: clock)
            }
        }
    }

    /// Reads `"day";q=100;w=60;qu="requests";pk=:dXNlcg==:`.
    private mutating func readPolicies(_ text: String) {
        for member in FieldScanner.members(of: text) {
            change(member.item) { parts in
                parts.limit = member["q"].flatMap(Self.amount)
                parts.window = member["w"].flatMap { ResetTime(secondsLeft: $0)?.left }
                parts.partition = member["pk"] ?? parts.partition
                switch member["qu"] {
                case nil, "requests": parts.unit = .requests
                case "concurrent-requests": parts.isOfAnotherKind = true
                default: parts.unit = .cost
                }
            }
        }
    }

    /// Reads `"day";r=50;t=30`, or `limit=100, remaining=50, reset=30`.
    private mutating func readCounters(_ text: String) {
        for member in FieldScanner.members(of: text) {
            if let value = member.value {
                change("") { parts in
                    switch member.item {
                    case "limit": parts.limit = Self.amount(value)
                    case "remaining": parts.remaining = Self.amount(value)
                    case "reset": parts.reset = ResetTime(secondsLeft: value)
                    default: break
                    }
                }
            } else {
                change(member.item) { parts in
                    parts.remaining = member["r"].flatMap(Self.amount)
                    parts.reset = member["t"].flatMap { ResetTime(secondsLeft: $0) }
                    parts.partition = member["pk"] ?? parts.partition
                }
            }
        }
    }

    private mutating func change(_ name: String, _ change: (inout Parts) -> Void) {
        guard name.utf8.count <= 64 else { return }
        if parts[name] == nil {
            guard names.count < Self.most else { return }
            names.append(name)
        }
        change(&parts[name, default: Parts()])
    }

    /// The whole number that a text begins with, of at most fifteen digits; nil if it begins with something else.
    private static func amount(_ text: String) -> Int64? {
        ASCII.number(ASCII.trimmed(text.utf8).prefix(while: ASCII.isDigit), digits: 1...15)
    }

    private static func unit(of name: String) -> QuotaReport.Unit {
        ["token", "byte", "credit", "cost", "point", "unit"].contains { name.contains($0) } ? .cost : .requests
    }

    /// The length of the window of a quota that is named after it.
    private static func window(of name: String) -> Duration? {
        ["second": 1, "minute": 60, "hour": 3_600, "day": 86_400][name].map { .seconds($0) }
    }
}

/// The time until a quota is whole again.
private struct ResetTime {
    var left: Duration
    /// How much later it may be, because the text was rounded.
    var rounding: Duration

    private static let longest = 31.0 * 86_400

    init(left: Duration, rounding: Duration) { (self.left, self.rounding) = (left, rounding) }

    /// Takes a number of seconds that is not absurd.
    private init?(seconds: Double, rounding: Duration) {
        guard seconds >= 0, seconds <= Self.longest else { return nil }
        self.init(left: .seconds(seconds), rounding: rounding)
    }

    /// Reads whole seconds, or a decimal fraction.
    init?(secondsLeft text: String) {
        guard let number = Self.number(text) else { return nil }
        self.init(seconds: number, rounding: text.contains(".") ? .milliseconds(1) : .seconds(1))
    }

    /// Reads any of the forms.
    init?(_ text: String, now: Date) {
        let text = String(decoding: ASCII.trimmed(text.utf8.prefix(100)), as: UTF8.self)
        if let number = Self.number(text) {
            let isFraction = text.contains(".")
            switch number {
            case ..<1e9: self.init(secondsLeft: text)
            case ..<1e11:
                self.init(
                    seconds: number - now.timeIntervalSince1970, rounding: isFraction ? .milliseconds(1) : .seconds(1))
            case 1e12..<1e14: self.init(seconds: number / 1_000 - now.timeIntervalSince1970, rounding: .milliseconds(1))
            default: return nil
            }
        } else if let seconds = Self.duration(text) {
            self.init(seconds: seconds, rounding: .milliseconds(1))
        } else if let (date, fraction) = CalendarTime.date(rfc3339: text) {
            self.init(seconds: date.timeIntervalSince(now) + fraction, rounding: .seconds(1))
        } else if let date = HTTPDate.date(text, now: now) {
            self.init(seconds: date.timeIntervalSince(now), rounding: .seconds(1))
        } else {
            return nil
        }
    }

    /// Digits, perhaps with a fraction.
    private static func number(_ text: some StringProtocol) -> Double? {
        guard text.utf8.first.map(ASCII.isDigit) == true, text.utf8.count <= 20 else { return nil }
        return text.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") } ? Double(text) : nil
    }

    /// The seconds of a text such as `1h30m`, `6m0s`, `1.5s` or `20ms`.
    private static func duration(_ text: String) -> Double? {
        let units = ["d": 86_400, "h": 3_600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9]
        var rest = Substring(text)
        var sum = 0.0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(letters.count)
            guard let number = number(digits), let unit = units[String(letters)] else { return nil }
            sum += number * unit
        }
        return text.isEmpty ? nil : sum
    }
}

/// A member of a list or a dictionary of structured fields (RFC 9651), as texts.
private struct StructuredMember {
    /// The item, or the key of a dictionary.
    var item: String
    var value: String?
    var parameters: [String: String] = [:]

    subscript(key: String) -> String? { parameters[key] }
}

/// Reads structured fields leniently: what it cannot read ends the list.
extension FieldScanner {
    fileprivate static func members(of text: String) -> [StructuredMember] {
        var scanner = FieldScanner(text)
        var members: [StructuredMember] = []
        while members.count < 16, let member = scanner.takeMember() {
            members.append(member)
            guard scanner.takeMark(",") else { break }
        }
        return members
    }

    private mutating func takeMember() -> StructuredMember? {
        guard let item = takeItem() else { return nil }
        var member = StructuredMember(item: item)
        if takeMark("=") { member.value = takeItem() }
        while takeMark(";"), let key = takeItem() { member.parameters[key] = takeMark("=") ? takeItem() ?? "" : "" }
        return member
    }

    private static let marks = ASCIISet(",;= \t")

    /// Takes a quoted text, bytes between colons, or anything up to the next mark.
    private mutating func takeItem() -> String? {
        if takeMark("\"") { return takeQuoted() }
        let item = take { !Self.marks.contains($0) }
        // Bytes between colons may end with the mark of a value.
        if item.first == UInt8(ascii: ":"), take("=") {
            while take("=") {}
            _ = takeMark(":")
        }
        return item.isEmpty ? nil : String(decoding: item, as: UTF8.self)
    }

    private mutating func takeMark(_ mark: Unicode.Scalar) -> Bool {
        skipBlanks()
        return take(mark)
    }
}
