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
    private let patterns: HostPatterns

    /// Whether credentials may be sent over plain HTTP to hosts other than this machine.
    public var allowsPlainHTTP = false

    private init(patterns: HostPatterns) { self.patterns = patterns }

    /// The hosts with these names.
    public init(_ names: some Sequence<String>) { self.init(patterns: HostPatterns(names)) }

    /// The hosts with these names.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// All hosts; for chains that never load an address from another source.
    public static let all = AuthorizedHosts(patterns: .all)

    /// Whether requests to `host` carry a credential.
    func contain(_ host: String?) -> Bool { patterns.contain(host) }

    /// Whether the credential of `request` cannot be read on the way, or may be.
    func protect(_ request: HTTPRequest) -> Bool {
        allowsPlainHTTP || request.isConfidential
    }
}
