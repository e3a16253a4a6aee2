import LoaderChainPlatformFoundation

/// The response of a token endpoint, read with tolerance for how servers deviate from the standard.
struct TokenAnswer: Decodable {
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

    /// The token in a response; throws if the response has none.
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
