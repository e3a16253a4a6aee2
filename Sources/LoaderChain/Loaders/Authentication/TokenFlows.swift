import LoaderChainPlatformFoundation

/// Exchanges a refresh token for a new access token: RFC 6749, section 6.
///
/// The token that it replaces comes from the store of the ``BearerAuth``, where the app has saved it after signing in.
/// If it has no refresh token, or one that the endpoint rejects, the user has to sign in.
///
/// ```swift
/// let source = RefreshTokenFlow(endpoint: tokenURL, client: OAuthClient(id: "my-app"))
/// ```
public struct RefreshTokenFlow: TokenSource {
    private let endpoint: TokenEndpoint

    /// Makes the flow.
    ///
    /// - Parameters:
    ///   - endpoint: the URL of the token endpoint, with `https`.
    ///   - client: the program's identifier and secret.
    ///   - scope: names with spaces between them; nil for all that was granted.
    public init(endpoint: URL, client: OAuthClient, scope: String? = nil) {
        self.endpoint = TokenEndpoint(url: endpoint, client: client, scope: scope)
    }

    /// Returns the token that the endpoint issues for the old token's refresh token.
    ///
    /// - Throws: ``SignInRequiredError`` without a refresh token, an ``OAuthError`` of the endpoint, or the ``HTTPError`` of
    ///   the request.
    public func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken {
        guard let refreshToken = old?.refreshToken else { throw SignInRequiredError() }
        var token = try await endpoint.token(
            for: ["grant_type": "refresh_token", "refresh_token": refreshToken], using: chain)
        // If the endpoint sends none, the old one stays valid.
        if token.refreshToken == nil { token.refreshToken = refreshToken }
        return token
    }
}

/// Gets a token for the program itself, with its identifier and secret: RFC 6749, section 4.4.
///
/// ```swift
/// let source = ClientCredentialsFlow(endpoint: tokenURL, client: OAuthClient(id: "reports", secret: secret))
/// ```
public struct ClientCredentialsFlow: TokenSource {
    private let endpoint: TokenEndpoint

    /// Makes the flow.
    ///
    /// - Parameters:
    ///   - endpoint: the URL of the token endpoint, with `https`.
    ///   - client: the program's identifier and secret.
    ///   - scope: names with spaces between them; nil for the endpoint's default.
    public init(endpoint: URL, client: OAuthClient, scope: String? = nil) {
        self.endpoint = TokenEndpoint(url: endpoint, client: client, scope: scope)
    }

    /// Returns a new token; the old one does not matter.
    ///
    /// - Throws: an ``OAuthError`` of the endpoint, or the ``HTTPError`` of the request.
    public func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken {
        try await endpoint.token(for: ["grant_type": "client_credentials"], using: chain)
    }
}

/// The identity of a program at a token endpoint.
public struct OAuthClient: Hashable, Sendable {
    /// How the secret is sent to an endpoint.
    public enum SecretPlacement: Hashable, Sendable {
        /// In the `Authorization` header, which every endpoint must support.
        case header
        /// In the body, for endpoints that support nothing else.
        case body
    }

    /// The program's identifier at the endpoint.
    public var id: String

    /// Where the secret goes.
    public var placement: SecretPlacement

    private var secretSecret: Secret<String>?

    /// Makes a client.
    ///
    /// The secret is nil for a program that cannot keep one, such as an app, which has only an identifier.
    public init(id: String, secret: String? = nil, placement: SecretPlacement = .header) {
        self.id = id
        self.placement = placement
        secretSecret = secret.map { Secret($0) }
    }

    /// Adds the client's identifier and secret to a request.
    func sign(_ form: inout FormBody, _ headers: inout HTTPHeaders) throws {
        guard let secret = secretSecret?.value else { return form.append(id, for: "client_id") }
        switch placement {
        case .body:
            form.append(id, for: "client_id")
            form.append(secret, for: "client_secret")
        case .header:
            // With form encoding, which RFC 6749 requires before the two are joined by a colon.
            let (user, password) = (PercentEncoding.encodeForm(id), PercentEncoding.encodeForm(secret))
            headers["Authorization"] = try BasicCredentials(user: user, password: password).headerValue()
        }
    }
}
