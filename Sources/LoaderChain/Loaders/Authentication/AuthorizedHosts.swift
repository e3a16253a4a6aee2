/// The hosts that may be told a credential.
///
/// ```swift
/// let hosts: AuthorizedHosts = ["api.example.com", "*.files.example.com"]
/// ```
///
/// A name stands for itself, in whatever case, on any port; one that begins with `*.` stands for every name below it.
/// Requests to other hosts pass without a credential, so that an image from elsewhere, loaded with the same chain, does
/// not carry the user's token there.
///
/// Over plain HTTP everybody on the way could read a credential. Requests to these hosts that would need it fail with
/// ``HTTPError/Code/insecureConnection``, unless the host is this very machine.
public struct AuthorizedHosts: Hashable, Sendable, ExpressibleByArrayLiteral {
    private let patterns: [String]?

    /// Whether credentials may go over plain HTTP to hosts other than this machine.
    public var allowsPlainHTTP = false

    private init(patterns: [String]?) { self.patterns = patterns }

    /// The hosts of these names.
    public init(_ names: some Sequence<String>) { self.init(patterns: names.map { $0.lowercased() }) }

    /// The hosts of these names.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// Every host that a request goes to; for chains that are never given an address from elsewhere.
    public static let all = AuthorizedHosts(patterns: nil)

    /// Whether requests to `host` carry a credential.
    func contain(_ host: String?) -> Bool {
        guard let patterns else { return true }
        guard let host = host?.lowercased() else { return false }
        return patterns.contains { pattern in
            guard pattern.hasPrefix("*.") else { return pattern == host }
            let suffix = pattern.dropFirst()
            return host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count
        }
    }

    /// Whether nobody on the way can read what `request` carries.
    func protect(_ request: HTTPRequest) -> Bool {
        allowsPlainHTTP || request.isConfidential
    }
}

extension HTTPRequest {
    /// Whether the request goes over TLS, or does not leave this machine.
    var isConfidential: Bool {
        if ASCII.isEqualIgnoringCase(scheme, "https") { return true }
        guard let host = host?.lowercased() else { return false }
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        // A name such as 127.example.com is somebody's.
        return host.hasPrefix("127.") && host.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    }
}
