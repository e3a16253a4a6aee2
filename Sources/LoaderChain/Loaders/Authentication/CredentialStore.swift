/// Keeps the credentials of a loader's user.
///
/// A loader reads the store before it asks its source, and keeps the credential in memory. It never calls two methods
/// at once, and calls none under a lock.
///
/// ## Which to choose
///
/// Use ``MemoryCredentialStore`` if credentials may be forgotten when the program ends. For an app that keeps its user
/// signed in, write one with the system's keychain.
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
/// An error that a method throws fails the tasks that wait, as the underlying error of an
/// ``HTTPError/Code/authenticationFailed``. After a failed save, the loader still uses the credential. After a failed
/// ``forget()`` it does not load before another one has succeeded, so that the user is not signed in again by accident.
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
