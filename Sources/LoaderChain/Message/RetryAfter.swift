import LoaderChainPlatformFoundation

/// How long a server asks its clients to wait, in either form of the `Retry-After` header.
package enum RetryAfter {
    /// The longest delay that a server can request: some thirty years, which any clock can add to its present.
    private static let longest: Int64 = 1_000_000_000

    /// The delay that a response requests; zero if it requests none, or not in a form of HTTP.
    ///
    /// - Parameter now: the present, from which a date is a delay; read only if there is a date.
    package static func delay(of response: HTTPResponse?, now: @autoclosure () -> Date) -> Duration {
        guard let text = response?.headers.values(for: "Retry-After").first else { return .zero }
        if let seconds = seconds(text) { return .seconds(seconds) }
        let now = now()
        guard let date = HTTPDate.date(text, now: now) else { return .zero }
        return .seconds(min(max(0, date.timeIntervalSince(now)), Double(longest)))
    }

    /// The number of the text, if it consists of digits only; at most the longest delay.
    private static func seconds(_ text: String) -> Int64? {
        let digits = ASCII.trimmed(text.utf8)
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return digits.reduce(0) { number, digit in min(longest, number * 10 + Int64(digit - UInt8(ascii: "0"))) }
    }
}
