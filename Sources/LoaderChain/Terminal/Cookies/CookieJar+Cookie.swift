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
        /// Whether hosts below the domain get the cookie too; otherwise the domain is the one host that does.
        public let includesSubdomains: Bool
        /// The path under which the cookie is sent.
        public let path: String
        /// When it expires; nil for a cookie that lasts as long as its jar, and is never on the disk.
        public let expiry: Date?
        /// Whether it is only sent where nothing on the way can read it.
        public let isSecure: Bool
        /// Whether a browser would hide it from scripts.
        public let isHTTPOnly: Bool
        /// What a browser would do with it when one site leads to another; nil if the server did not say.
        public let sameSite: SameSite?

        /// What a browser does with a cookie when one site leads to another.
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

extension CookieJar.Cookie: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name, the domain and the path, without the value.
    public var description: String {
        "\(ASCII.printable(name))=\(Redaction.text) for \(includesSubdomains ? "*." : "")\(domain)\(path)"
    }

    /// The same as the description.
    public var debugDescription: String { description }
}

extension CookieJar.Cookie {
    /// What tells a cookie from others: a new one with the same takes its place.
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
        guard domain.isEmpty || CookieRules.host(origin.host, matches: domain) else { return nil }
        guard !field.isSecure || origin.isSecure, Self.keepsPromise(of: field, isHostOnly: domain.isEmpty) else {
            return nil
        }
        self.init(
            name: field.name, secretValue: field.value, domain: domain.isEmpty ? origin.host : domain,
            includesSubdomains: !domain.isEmpty, path: field.path ?? origin.defaultPath, expiry: field.expiry,
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
