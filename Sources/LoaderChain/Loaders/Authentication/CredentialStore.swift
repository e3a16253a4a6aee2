/// Where a loader keeps the credentials of its user.
///
/// A loader reads it before it asks anybody, and keeps what it read in memory. It never calls two methods at once, and
/// calls none under a lock.
///
/// ## Which to choose
///
/// ``MemoryCredentialStore`` for what may be forgotten when the program ends. An app that keeps its user signed in writes
/// one over the system's keychain.
///
/// ## How to write your own
///
/// ```swift
/// struct TokenKeychain: CredentialStore {
///     let keychain: Keychain
///     func load() async throws -> BearerToken? { try await keychain.read("token") }
///     func save(_ token: BearerToken) async throws { try await keychain.write(token, as: "token") }
///     func forget() async throws { try await keychain.remove("token") }
/// }
/// ```
///
/// What a method throws reaches the tasks that wait at the time, beneath an ``HTTPError/Code/authenticationFailed``. After
/// a failed save the loader still goes on with what it has. After a failed ``forget()`` it loads nothing before another
/// one has succeeded, so that nobody is signed in again by accident.
public protocol CredentialStore<Credential>: Sendable {
    /// What is kept.
    associatedtype Credential: Sendable

    /// Returns what was saved last; nil if nothing was, or it was forgotten.
    func load() async throws -> Credential?

    /// Keeps `credential` in the place of what was there.
    func save(_ credential: Credential) async throws

    /// Forgets what is kept; there may be nothing.
    func forget() async throws
}

/// A store that lasts as long as the program.
public actor MemoryCredentialStore<Credential: Sendable>: CredentialStore {
    private var credential: Credential?

    /// Makes a store that holds `credential`, if there is one already.
    public init(_ credential: Credential? = nil) {
        self.credential = credential
    }

    /// Returns what is kept.
    public func load() -> Credential? { credential }

    /// Keeps `credential`.
    public func save(_ credential: Credential) { self.credential = credential }

    /// Forgets what is kept.
    public func forget() { credential = nil }
}

extension MemoryCredentialStore: CustomReflectable {
    /// Shows nothing, since what is kept need not know how to hide itself.
    public nonisolated var customMirror: Mirror { Mirror(self, children: []) }
}
