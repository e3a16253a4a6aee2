#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Somebody who gets a ``BearerAuth`` its tokens.
///
/// One question is put at a time, for any number of tasks that wait for its answer. It may take as long as it takes. When
/// the loader is reset, the Swift task that it runs in is cancelled, and the reset waits for its end; so it must not wait
/// for a reset itself.
///
/// ## Which to choose
///
/// - ``ClientCredentialsFlow`` for a program that acts for itself.
/// - ``RefreshTokenFlow`` for one that acts for a user who has signed in, and whose token is in the store.
/// - One of your own for what needs a browser or anything else that only the app can show.
///
/// ## How to write your own
///
/// Return a token, or throw. Throw ``SignInRequired`` when trying again would not help; the tasks that wait then fail with
/// ``HTTPError/Code/authenticationRequired``, and the store forgets what it has. After any other error they fail with
/// ``HTTPError/Code/authenticationFailed``, and the next task asks again. Whatever is asked of `chain` passes the loaders
/// after the `BearerAuth` alone, and does not wait for a token.
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
    /// Returns a token to be used from now on.
    ///
    /// - Parameters:
    ///   - old: the token that has expired or was rejected; nil if there is none.
    ///   - chain: what requests for a token are loaded with.
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
