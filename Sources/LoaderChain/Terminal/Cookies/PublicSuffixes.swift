/// The domains under which anyone can register a name, and for which therefore no cookie may be set.
///
/// By default these are the domains of one label, such as `com`. The others, such as `co.uk`, change with time: take the list of
/// publicsuffix.org, which your app keeps up to date, and make a value from its text.
///
/// ```swift
/// let suffixes = PublicSuffixes(list: "com\nco.uk\n*.ck\n!www.ck")
/// let jar = CookieJar(publicSuffixes: suffixes)
/// ```
public struct PublicSuffixes: Sendable {
    private var names: Set<String> = []
    private var parentsOfAll: Set<String> = []
    private var exceptions: Set<String> = []

    /// The domains of one label.
    public static let singleLabels = PublicSuffixes()

    private init() {}

    /// Reads a list in the form of publicsuffix.org: a rule to a line, with comments after `//`.
    ///
    /// Rules must be in ASCII, as hosts are: names in other scripts begin with `xn--`. Others are left out.
    public init(list: String) {
        for line in list.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            // A rule ends at the first blank.
            guard let word = line.split(whereSeparator: ASCII.isBlank).first, !word.starts(with: "//".utf8),
                word.allSatisfy({ $0 < 0x80 })
            else { continue }
            let rule = Substring(word).lowercased()
            if rule.hasPrefix("!") {
                exceptions.insert(String(rule.dropFirst()))
            } else if rule.hasPrefix("*.") {
                parentsOfAll.insert(String(rule.dropFirst(2)))
            } else {
                names.insert(rule)
            }
        }
    }

    /// Whether anyone can register a name under a domain.
    ///
    /// - Parameter domain: the domain in lower case.
    public func contains(_ domain: String) -> Bool {
        let domain = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        guard let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { return true }
        if exceptions.contains(domain) { return false }
        return names.contains(domain) || parentsOfAll.contains(String(domain[dot...].dropFirst()))
    }
}
