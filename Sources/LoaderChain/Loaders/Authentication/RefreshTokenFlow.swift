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
    /// - Throws: ``SignInRequired`` without a refresh token, an ``OAuthError`` of the endpoint, or the ``HTTPError`` of
    ///   the request.
    public func token(replacing old: BearerToken?, using chain: RestOfChain) async throws -> BearerToken {
        guard let refreshToken = old?.refreshToken else { throw SignInRequired() }
        var token = try await endpoint.token(
            for: ["grant_type": "refresh_token", "refresh_token": refreshToken], using: chain)
        // If the endpoint sends none, the old one stays valid.
        if token.refreshToken == nil { token.refreshToken = refreshToken }
        return token
    }
}
