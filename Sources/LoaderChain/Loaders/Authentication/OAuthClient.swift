#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// As what a program is known to a token endpoint.
public struct OAuthClient: Hashable, Sendable {
    /// How an endpoint is told the secret.
    public enum SecretPlacement: Hashable, Sendable {
        /// In the `Authorization` header, which every endpoint has to understand.
        case header
        /// In the body, for endpoints that understand nothing else.
        case body
    }

    /// The name under which the endpoint knows the program.
    public var id: String

    /// Where the secret goes.
    public var placement: SecretPlacement

    private var secretSecret: Secret<String>?

    /// Makes a client.
    ///
    /// The secret is nil for a program that cannot keep one, such as an app; it is known by its name alone.
    public init(id: String, secret: String? = nil, placement: SecretPlacement = .header) {
        self.id = id
        self.placement = placement
        secretSecret = secret.map { Secret($0) }
    }

    /// Says in a request who sends it.
    func sign(_ form: inout FormBody, _ headers: inout HTTPHeaders) throws {
        guard let secret = secretSecret?.value else { return form.append(id, for: "client_id") }
        switch placement {
        case .body:
            form.append(id, for: "client_id")
            form.append(secret, for: "client_secret")
        case .header:
            headers["Authorization"] = try BasicCredentials(user: Self.escaped(id), password: Self.escaped(secret))
                .headerValue()
        }
    }

    /// The text as a form would send it, which RFC 6749 wants before the two are joined by a colon.
    private static func escaped(_ text: String) -> String {
        let content = FormBody([(name: text, value: "")]).encode()
        guard case .data(let data)? = content.segments.first else { return "" }
        return String(decoding: data.dropLast(), as: UTF8.self)
    }
}
