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
/// Return a token, or throw. Throw ``SignInRequiredError`` when another attempt would not help: the tasks that wait then
/// fail with ``HTTPError/Code/authenticationRequired``, and the store forgets its token. After any other error they
/// fail with ``HTTPError/Code/authenticationFailed``, and the next task asks again. Requests that you load with `chain`
/// pass only the loaders after the `BearerAuth`, and do not wait for a token.
///
/// ```swift
/// struct BrowserSignIn: TokenSource {
///     let refresh: RefreshTokenFlow
///
///     func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken {
///         do {
///             return try await refresh.token(replacing: old, using: chain)
///         } catch let error where error is SignInRequiredError || (error as? OAuthError)?.code == .invalidGrant {
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
    func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken
}

/// The error that a source throws when it has nothing left to try, and the user has to sign in.
public struct SignInRequiredError: Error, Hashable, Sendable {
    /// Makes the error.
    public init() {}
}

extension SignInRequiredError: CustomStringConvertible, LocalizedError {
    /// What is missing, and what to do.
    public var reason: String { "There is nothing to get a token with; the user has to sign in" }

    /// The ``reason``.
    public var description: String { reason }

    /// The ``reason``, which `localizedDescription` shows.
    public var errorDescription: String? { reason }
}

/// An access token, with the refresh token that gets the next one.
///
/// Descriptions contain neither token. Encoding writes both out, for a store that is safe.
public struct BearerToken: Hashable, Codable, Sendable {
    private var secretAccessToken: Secret<String>
    private var secretRefreshToken: Secret<String>?

    /// How long the access token is valid after it was obtained; nil or zero if only the server knows.
    public var lifetime: Duration?

    /// When the token was obtained, by the wall clock.
    ///
    /// A ``BearerAuth`` sets it if its source has left it nil, so that the age of a token in a store is known.
    public var obtained: Date?

    /// Makes a token.
    public init(accessToken: String, refreshToken: String? = nil, lifetime: Duration? = nil, obtained: Date? = nil) {
        secretAccessToken = Secret(accessToken)
        secretRefreshToken = refreshToken.map { Secret($0) }
        self.lifetime = lifetime
        self.obtained = obtained
    }

    private enum CodingKeys: String, CodingKey {
        case secretAccessToken = "accessToken"
        case secretRefreshToken = "refreshToken"
        case lifetime, obtained
    }

    /// The access token, which requests carry.
    public var accessToken: String {
        get { secretAccessToken.value }
        set { secretAccessToken.value = newValue }
    }

    /// The refresh token, which gets the next access token; nil if the server issued none.
    public var refreshToken: String? {
        get { secretRefreshToken?.value }
        set { secretRefreshToken = newValue.map { Secret($0) } }
    }

    /// The value of the `Authorization` header; throws if the token cannot be sent.
    func headerValue() throws(AuthenticationFailure) -> String {
        guard !accessToken.isEmpty, accessToken.utf8.allSatisfy({ ASCII.space < $0 && $0 < ASCII.delete }) else {
            throw AuthenticationFailure(reason: "The access token has characters that are not allowed in a header")
        }
        return "Bearer " + accessToken
    }

    /// How long the token is still to be used at `date`, if that is known; it is replaced `leeway` before its end.
    ///
    /// Clocks can be set back, so a negative age counts as zero. The leeway is at most half of the lifetime.
    func remainingUse(at date: Date, leeway: Duration) -> Duration? {
        guard let lifetime = lifetime.map({ min($0, Self.greatestLifetime) }), lifetime > .zero else { return nil }
        let age = obtained.map { max(0, date.timeIntervalSince($0)) } ?? 0
        // No token lives longer, and a duration of a larger Double could overflow.
        guard age < Self.greatestLifetime / .seconds(1) else { return .zero }
        return lifetime - .seconds(age) - min(max(leeway, .zero), lifetime / 2)
    }

    /// A hundred years: longer than any token lives, and short enough to calculate with.
    static let greatestLifetime = Duration.seconds(100 * 365 * 86_400)
}

extension BearerToken: CustomStringConvertible {
    /// The facts about the token, without secrets.
    public var description: String {
        var facts = [Redaction.text]
        if secretRefreshToken != nil { facts.append("can be refreshed") }
        if let lifetime { facts.append("good for \(lifetime)") }
        return "BearerToken(\(facts.joined(separator: ", ")))"
    }
}
