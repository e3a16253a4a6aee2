import LoaderChainPlatformFoundation

/// Gets tokens for a ``BearerAuth``.
///
/// A source is asked once at a time, for any number of tasks that wait for the answer, and may take any time. When the
/// loader is reset, the Swift task that it runs in is cancelled, and the reset waits for its end; a source must
/// therefore not wait for a reset.
///
/// ## Which to choose
///
/// - ``ClientCredentialsFlow`` for a program that acts for itself.
/// - ``RefreshTokenFlow`` for a program that acts for a user who has signed in, and whose token is in the store.
/// - A source of your own for flows that need a browser or another part of the app.
///
/// ## How to write your own
///
/// Return a token, or throw. Throw ``SignInRequired`` when another attempt would not help: the tasks that wait then
/// fail with ``HTTPError/Code/authenticationRequired``, and the store forgets its token. After any other error they
/// fail with ``HTTPError/Code/authenticationFailed``, and the next task asks again. Requests that you load with `chain`
/// pass only the loaders after the `BearerAuth`, and do not wait for a token.
///
/// ```swift
/// struct BrowserSignIn: TokenSource {
///     let refresh: RefreshTokenFlow
///
///     func token(replacing old: BearerToken?, using chain: RestOfChain) async throws -> BearerToken {
///         do {
///             return try await refresh.token(replacing: old, using: chain)
///         } catch let error where error is SignInRequired || (error as? OAuthError)?.code == .invalidGrant {
///             return try await signInWithBrowser()
///         }
///     }
/// }
/// ```
public protocol TokenSource: Sendable {
    /// Returns a token to use from now on.
    ///
    /// - Parameters:
    ///   - old: the token that has expired or was rejected; nil if there is none.
    ///   - chain: loads requests for a token.
    func token(replacing old: BearerToken?, using chain: RestOfChain) async throws -> BearerToken
}

/// The error that a source throws when it has nothing left to try, and the user has to sign in.
public struct SignInRequired: Error, Hashable, Sendable {
    /// Makes the error.
    public init() {}
}

extension SignInRequired: CustomStringConvertible, LocalizedError {
    /// What is missing, and what to do.
    public var reason: String { "There is nothing to get a token with; the user has to sign in" }

    /// The ``reason``.
    public var description: String { reason }

    /// The ``reason``, which `localizedDescription` shows.
    public var errorDescription: String? { reason }
}
