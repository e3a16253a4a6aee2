import LoaderChainPlatformFoundation

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
    public func token(replacing old: BearerToken?, using chain: RestOfChain) async throws -> BearerToken {
        try await endpoint.token(for: ["grant_type": "client_credentials"], using: chain)
    }
}
