import LoaderChainPlatformFoundation

extension CookieJar {
    /// A cookie of a jar.
    ///
    /// Its description has no value.
    public struct Cookie: Hashable, Sendable {
        /// The name; empty for a value alone.
        public let name: String
        /// The value.
        public var value: String { secretValue.value }
        let secretValue: Secret<String>
        /// The domain, in lower case.
        public let domain: String
        /// Whether hosts below the domain get the cookie too; otherwise only the domain itself does.
        public let includesSubdomains: Bool
        /// The path under which the cookie is sent.
        public let path: String
        /// The date at which it expires; nil for a cookie that is never on the disk, and lasts until its jar is released.
        public let expiry: Date?
        /// Whether it is sent only over encrypted connections, or to this machine.
        public let isSecure: Bool
        /// Whether a browser would hide it from scripts.
        public let isHTTPOnly: Bool
        /// The `SameSite` attribute: whether a browser sends it when another site leads there; nil if the server did not set it.
        public let sameSite: SameSite?

        /// A value of `SameSite`: whether a browser sends a cookie when another site leads there.
        public struct SameSite: Hashable, Sendable, CustomStringConvertible {
            /// The name, in lower case.
            public let description: String

            private init(description: String) { self.description = description }

            /// Never sent when another site leads there.
            public static let strict = SameSite(description: "strict")
            /// Sent when a user follows a link there.
            public static let lax = SameSite(description: "lax")
            /// Always sent.
            public static let unrestricted = SameSite(description: "none")

            init?(_ text: some StringProtocol) {
                let known = [SameSite.strict, .lax, .unrestricted].first { $0.description == text.lowercased() }
                guard let known else { return nil }
                self = known
            }
        }
    }
}

extension CookieJar.Cookie: CustomStringConvertible {
    /// The name, the domain and the path, without the value.
    public var description: String {
        "\(ASCII.printable(name))=\(Redaction.text) for \(includesSubdomains ? "*." : "")\(domain)\(path)"
    }
}

extension CookieJar.Cookie {
    /// The identity of a cookie: a new cookie with the same identity replaces it.
    struct Identity: Hashable, Sendable {
        let name: String
        let includesSubdomains: Bool
        let path: String
    }

    var identity: Identity { Identity(name: name, includesSubdomains: includesSubdomains, path: path) }

    /// The cookie as a `Cookie` field has it.
    var pair: String { name.isEmpty ? value : name + "=" + value }

    func isExpired(at now: Date) -> Bool { expiry.map { $0 <= now } ?? false }

    /// Whether a request to a place is sent the cookie, whose domain is that of the host or above it.
    func isSent(to origin: CookieOrigin) -> Bool {
        (includesSubdomains || domain == origin.host) && (!isSecure || origin.isSecure)
            && CookieRules.path(origin.path, matches: path)
    }

    /// The cookie that a field sets for the place that sent it; nil if it must not.
    init?(_ field: SetCookie, from origin: CookieOrigin, suffixes: PublicSuffixes) {
        var domain = field.domain
        guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        if !domain.isEmpty, suffixes.contains(domain) {
            guard domain == origin.host else { return nil }
            domain = ""
        }
        let path = field.path ?? origin.defaultPath
        guard path.utf8.count <= SetCookie.longestAttribute else { return nil }
        guard domain.isEmpty || CookieRules.host(origin.host, matches: domain) else { return nil }
        guard !field.isSecure || origin.isSecure, Self.keepsPromise(of: field, isHostOnly: domain.isEmpty) else {
            return nil
        }
        self.init(
            name: field.name, secretValue: field.value, domain: domain.isEmpty ? origin.host : domain,
            includesSubdomains: !domain.isEmpty, path: path, expiry: field.expiry,
            isSecure: field.isSecure, isHTTPOnly: field.isHTTPOnly, sameSite: field.sameSite)
    }

    /// Whether a cookie is what the beginning of its name says (RFC 6265bis, section 4.1.3).
    private static func keepsPromise(of field: SetCookie, isHostOnly: Bool) -> Bool {
        // A value without a name looks like a name to a server.
        let name = (field.name.isEmpty ? field.value.value : field.name).lowercased()
        let promisesHost = name.hasPrefix("__host-")
        guard promisesHost || name.hasPrefix("__secure-") else { return true }
        if field.name.isEmpty { return false }
        return field.isSecure && (!promisesHost || isHostOnly && field.path == "/")
    }
}

// MARK: - Destinations

/// The destination of a request, as cookies see it.
struct CookieOrigin: Hashable, Sendable {
    /// The host in lower case.
    let host: String
    /// The path, which begins with a slash.
    let path: String
    /// Whether the request cannot be read on the way.
    let isSecure: Bool

    init(host: String, path: String, isSecure: Bool) {
        self.host = host
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/" + path
        self.isSecure = isSecure
    }

    /// The origin of a request; nil while its host is not known, or if none can have its name.
    init?(_ request: HTTPRequest) {
        guard !request.hostKey.isEmpty, request.hostKey.utf8.count <= RequestAddress.longestHost else { return nil }
        self.init(host: request.hostKey, path: request.path, isSecure: request.isConfidential)
    }

    /// The path of cookies that name none: that of the request, up to its last slash (RFC 6265bis, section 5.1.4).
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

/// The comparisons of RFC 6265bis, sections 5.1.3 and 5.1.4.
enum CookieRules {
    /// Whether a host is a domain or below it; addresses are below none.
    static func host(_ host: String, matches domain: String) -> Bool {
        if host == domain { return true }
        return isBelow(host, domain) && !isAddress(host)
    }

    private static func isBelow(_ host: String, _ domain: String) -> Bool {
        let rest = host.utf8.count - domain.utf8.count
        guard rest > 0, !domain.isEmpty, host.utf8.suffix(domain.utf8.count).elementsEqual(domain.utf8) else {
            return false
        }
        return host.utf8.prefix(rest).last == UInt8(ascii: ".")
    }

    /// Whether a host is an IP address: it has a colon, or its last label is a number.
    private static func isAddress(_ host: String) -> Bool {
        if host.utf8.contains(UInt8(ascii: ":")) { return true }
        let last = host.utf8.split(separator: UInt8(ascii: ".")).last
        return last?.allSatisfy(ASCII.isDigit) ?? false
    }

    /// Whether a cookie of a path is sent to another path.
    static func path(_ path: String, matches cookiePath: String) -> Bool {
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        if path.utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == UInt8(ascii: "/") { return true }
        return path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }

    /// The domains whose cookies a host may be sent: its own, and those above it.
    static func domains(of host: String) -> [String] {
        guard !isAddress(host) else { return [host] }
        var domains = [host]
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[dot...].dropFirst()
            if !rest.isEmpty { domains.append(String(rest)) }
        }
        return domains
    }
}

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
