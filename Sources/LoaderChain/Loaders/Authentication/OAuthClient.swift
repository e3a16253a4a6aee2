import LoaderChainPlatformFoundation

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
