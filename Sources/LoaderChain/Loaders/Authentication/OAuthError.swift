import LoaderChainPlatformFoundation

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
        /// The refresh token, or what else was to be exchanged for a token, is not valid any more.
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

extension OAuthError.Code: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, if it looks like one: a server that sends a token here must not have it in every log.
    public var description: String {
        let isName = rawValue.utf8.allSatisfy { ($0 &- UInt8(ascii: "a")) < 26 || $0 == UInt8(ascii: "_") }
        return isName && 1...40 ~= rawValue.utf8.count ? rawValue : "an unknown error"
    }

    /// The name, if it looks like one.
    public var debugDescription: String { description }

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
