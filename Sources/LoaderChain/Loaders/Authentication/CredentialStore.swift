/// Keeps the credentials of a loader's user.
///
/// A loader without a credential reads the store before it asks its source, and keeps the credential in memory. It calls no
/// method under a lock, and never two at once, unless a reset was given up before one had returned.
///
/// ## Which to choose
///
/// - ``MemoryCredentialStore`` if credentials may be forgotten when the program ends.
/// - `.keychain(service:)` in an app for Apple systems, on a Mac with the capability Keychain Sharing.
/// - `.file(_:)` elsewhere, and in a command-line tool on a Mac: a file that only this user can read.
///
/// ## How to write your own
///
/// ```swift
/// struct TokenVault: CredentialStore {
///     let vault: Vault
///     func load() async throws -> BearerToken? { try await vault.read("token") }
///     func save(_ token: BearerToken) async throws { try await vault.write(token, as: "token") }
///     func forget() async throws { try await vault.remove("token") }
/// }
/// ```
///
/// An error that a method throws fails the tasks that wait, as the underlying error of an
/// ``HTTPError/Code/authenticationFailed``. After a failed save, the loader still uses the credential. After a reset whose
/// ``forget()`` has failed, it does not load before another one has succeeded, so that the user is not signed in again.
public protocol CredentialStore<Credential>: Sendable {
    /// The type of the credentials.
    associatedtype Credential: Sendable

    /// Returns the credential that was saved last; nil if there is none.
    func load() async throws -> Credential?

    /// Saves `credential`, and replaces the one before.
    func save(_ credential: Credential) async throws

    /// Forgets the credential, if there is one.
    func forget() async throws
}

/// A store in memory, which lasts as long as the program.
public actor MemoryCredentialStore<Credential: Sendable>: CredentialStore {
    private var credential: Credential?

    /// Makes a store, with `credential` if you have one.
    public init(_ credential: Credential? = nil) { self.credential = credential }

    /// Returns the credential.
    public func load() -> Credential? { credential }

    /// Saves `credential`.
    public func save(_ credential: Credential) { self.credential = credential }

    /// Forgets the credential.
    public func forget() { credential = nil }
}

extension MemoryCredentialStore: CustomReflectable {
    /// Empty, because the credential may not hide its secrets itself.
    public nonisolated var customMirror: Mirror { Mirror(self, children: []) }
}

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

    func contain(_ host: String?) -> Bool { patterns.contain(host) }

    /// Whether nobody on the way can read the credential of `request`, or plain HTTP is allowed.
    func protect(_ request: HTTPRequest) -> Bool {
        allowsPlainHTTP || request.isConfidential
    }
}
