#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Gets a token for the program itself, by its name and secret: RFC 6749, section 4.4.
///
/// ```swift
/// let source = ClientCredentialsFlow(endpoint: tokenURL, client: OAuthClient(id: "reports", secret: secret))
/// ```
public struct ClientCredentialsFlow: TokenSource {
    private let endpoint: TokenEndpoint

    /// Makes the flow.
    ///
    /// - Parameters:
    ///   - endpoint: where to ask, with `https`.
    ///   - client: as what to ask.
    ///   - scope: what the token is for, names with spaces between them; nil for what the endpoint gives by itself.
    public init(endpoint: URL, client: OAuthClient, scope: String? = nil) {
        self.endpoint = TokenEndpoint(url: endpoint, client: client, scope: scope)
    }

    /// Returns a new token; the old one does not matter.
    ///
    /// - Throws: an ``OAuthError`` that the endpoint answered, or the ``HTTPError`` that stood in the way.
    public func token(replacing old: BearerToken?, using chain: RestOfChain) async throws -> BearerToken {
        try await endpoint.token(for: ["grant_type": "client_credentials"], using: chain)
    }
}
