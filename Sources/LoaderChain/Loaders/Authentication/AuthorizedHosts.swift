/// The hosts that a credential may be sent to.
///
/// ```swift
/// let hosts: AuthorizedHosts = ["api.example.com", "*.files.example.com"]
/// ```
///
/// A name matches itself, in any case and on any port; a name that begins with `*.` matches every name below it.
/// Requests to other hosts pass without a credential, so that an image from another server, loaded with the same chain,
/// does not carry the user's token there.
///
/// Over plain HTTP, every network on the way could read a credential. Requests to these hosts that would need one fail
/// with ``HTTPError/Code/insecureConnection``, unless the host is this machine.
public struct AuthorizedHosts: Hashable, Sendable, ExpressibleByArrayLiteral {
    private let patterns: [String]?

    /// Whether credentials may be sent over plain HTTP to hosts other than this machine.
    public var allowsPlainHTTP = false

    private init(patterns: [String]?) { self.patterns = patterns }

    /// The hosts with these names.
    public init(_ names: some Sequence<String>) { self.init(patterns: names.map { $0.lowercased() }) }

    /// The hosts with these names.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// All hosts; for chains that never load an address from another source.
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

    /// Whether the credential of `request` cannot be read on the way, or may be.
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
        // A name such as 127.example.com can belong to another machine.
        return host.hasPrefix("127.") && host.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    }
}
