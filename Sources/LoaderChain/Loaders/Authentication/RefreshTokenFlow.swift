#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Exchanges a refresh token for a new access token: RFC 6749, section 6.
///
/// The token that it replaces comes from the store of the ``BearerAuth``, where the app has put it after signing in. One
/// without a refresh token, or with one that the endpoint takes no more, means that the user has to sign in.
///
/// ```swift
/// let source = RefreshTokenFlow(endpoint: tokenURL, client: OAuthClient(id: "my-app"))
/// ```
public struct RefreshTokenFlow: TokenSource {
    private let endpoint: TokenEndpoint

    /// Makes the flow.
    ///
    /// - Parameters:
    ///   - endpoint: where to ask, with `https`.
    ///   - client: as what to ask.
    ///   - scope: what the token is for, names with spaces between them; nil for all that was granted.
    public init(endpoint: URL, client: OAuthClient, scope: String? = nil) {
        self.endpoint = TokenEndpoint(url: endpoint, client: client, scope: scope)
    }

    /// Returns the token that the endpoint gives out for the old one's refresh token.
    ///
    /// - Throws: ``SignInRequired`` without a refresh token, an ``OAuthError`` that the endpoint answered, or the
    ///   ``HTTPError`` that stood in the way.
    public func token(replacing old: BearerToken?, using chain: RestOfChain) async throws -> BearerToken {
        guard let refreshToken = old?.refreshToken else { throw SignInRequired() }
        var token = try await endpoint.token(
            for: ["grant_type": "refresh_token", "refresh_token": refreshToken], using: chain)
        // An endpoint that sends none means that the old one goes on.
        if token.refreshToken == nil { token.refreshToken = refreshToken }
        return token
    }
}
