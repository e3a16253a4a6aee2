import LoaderChainPlatformFoundation

/// A token endpoint, and the requests to it: RFC 6749, section 3.2.
struct TokenEndpoint: Sendable {
    let url: URL
    let client: OAuthClient
    let scope: String?

    func token(for fields: FormBody, using chain: Next) async throws -> BearerToken {
        let response: HTTPResponse
        do {
            response = try await chain(request(with: fields))
        } catch var error as HTTPError {
            // The response may contain a token, and errors are logged.
            error.response?.body = Data()
            throw error
        }
        return try TokenAnswer.token(in: response)
    }

    private func request(with fields: FormBody) throws(HTTPError) -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: url, headers: ["Accept": "application/json"])
        guard request.isConfidential else {
            throw HTTPError(
                .insecureConnection, request: request, reason: "Secrets are not sent over plain HTTP; use https")
        }
        var form = fields
        if let scope { form.append(scope, for: "scope") }
        do {
            try client.sign(&form, &request.headers)
        } catch {
            throw HTTPError(.invalidRequest, request: request, reason: "The client's name and secret cannot be sent")
        }
        request.body = SecretForm(form: Secret(form))
        request.hidesBodies = true
        // A redirect that keeps the method would send the secrets to a server that the app has not named.
        request.redirects = .refuse
        // An error of the standard is a response to read, whatever the loaders below demand of other responses.
        request.responseCheck = .nothing
        return request
    }
}

/// A form that a dump of the request does not show.
private struct SecretForm: HTTPBody {
    let form: Secret<FormBody>

    var isEmpty: Bool { form.value.isEmpty }
    var additionalHeaders: HTTPHeaders { form.value.additionalHeaders }
    func encode() -> HTTPBodyContent { form.value.encode() }
}

/// The response of a token endpoint, read with tolerance for how servers deviate from the standard.
private struct TokenAnswer: Decodable {
    private var accessToken: String?
    private var refreshToken: String?
    private var tokenType: String?
    private var lifetime: Duration?
    private var error: String?
    private var message: String?

    private enum Key: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case tokenType = "token_type"
        case lifetime = "expires_in"
        case error
        case message = "error_description"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        // A member of the wrong type counts as missing.
        func text(_ key: Key) -> String? { try? container.decode(String.self, forKey: key) }
        accessToken = text(.accessToken)
        refreshToken = text(.refreshToken)
        tokenType = text(.tokenType)
        error = text(.error)
        message = text(.message)
        // Some servers write the number as a string.
        let seconds = (try? container.decode(Double.self, forKey: .lifetime)) ?? text(.lifetime).flatMap { Double($0) }
        lifetime = seconds.flatMap(Self.lifetime)
    }

    /// The duration of `seconds`, limited to a length that can be calculated with; nil if it is not positive.
    private static func lifetime(ofSeconds seconds: Double) -> Duration? {
        guard seconds > 0 else { return nil }
        return .seconds(min(seconds, BearerToken.greatestLifetime / .seconds(1)))
    }

    static func token(in response: HTTPResponse) throws(OAuthError) -> BearerToken {
        let status = response.status
        // The decoder's own error could quote the response.
        guard let answer = try? JSONDecoder().decode(TokenAnswer.self, from: response.body) else {
            throw OAuthError(.unreadableAnswer, status: status)
        }
        // Some servers send an error with a success status.
        if let error = answer.error {
            throw OAuthError(OAuthError.Code(rawValue: error), status: status, message: answer.message)
        }
        guard status.isSuccess, let accessToken = answer.accessToken,
            ASCII.isEqualIgnoringCase(answer.tokenType ?? "Bearer", "Bearer")
        else { throw OAuthError(.unreadableAnswer, status: status) }
        return BearerToken(accessToken: accessToken, refreshToken: answer.refreshToken, lifetime: answer.lifetime)
    }
}

/// The error response of a token endpoint.
///
/// Its text contains nothing that the server wrote, except for the code.
public struct OAuthError: Error, Hashable, Sendable {
    /// The kind of refusal.
    public let code: Code

    /// The status of the response.
    public let status: HTTPStatus

    private let secretMessage: Secret<String>?

    /// Makes an error, for a token source of your own.
    public init(_ code: Code, status: HTTPStatus, message: String? = nil) {
        self.code = code
        self.status = status
        secretMessage = message.map { Secret($0) }
    }

    /// The server's message for developers, which may quote anything that was sent; not for logs.
    public var message: String? { secretMessage?.value }

    /// A kind of refusal, by its name in RFC 6749.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String

        /// Makes a kind of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request was malformed.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The endpoint does not know the client, or its secret was wrong.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The grant, such as the refresh token, is no longer valid.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// The client may not use this flow.
        public static let unauthorizedClient = Code(rawValue: "unauthorized_client")
        /// The endpoint does not know this flow.
        public static let unsupportedGrantType = Code(rawValue: "unsupported_grant_type")
        /// The scope is unknown, malformed, or more than was granted.
        public static let invalidScope = Code(rawValue: "invalid_scope")
        /// The response was neither a usable bearer token nor an error of the standard.
        ///
        /// This code is not from the standard.
        public static let unreadableAnswer = Code(rawValue: "unreadable_answer")
    }
}

extension OAuthError.Code: CustomStringConvertible, CustomReflectable {
    /// The name, if it looks like one: a server that sends a token here must not have it in every log.
    public var description: String {
        let isName = rawValue.utf8.allSatisfy { ($0 &- UInt8(ascii: "a")) < 26 || $0 == UInt8(ascii: "_") }
        return isName && 1...40 ~= rawValue.utf8.count ? rawValue : "an unknown error"
    }

    /// Empty, because the raw value may hold a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension OAuthError: CustomStringConvertible, LocalizedError {
    /// The kind and the status, as a sentence.
    public var reason: String { "The token endpoint answered \(code) with status \(status)" }

    /// The ``reason``.
    public var description: String { reason }

    /// The ``reason``, which `localizedDescription` shows.
    public var errorDescription: String? { reason }
}
