import LoaderChain

/// Why a request was refused before any route saw it.
package struct LoopbackRefusal: Error, Sendable, Hashable {
    package let status: HTTPStatus
    /// The sentence in the body of the response.
    package let explanation: String

    static func badRequest(_ explanation: String) -> Self {
        Self(status: .badRequest, explanation: explanation)
    }

    static func headTooLarge(_ limit: Int) -> Self {
        Self(
            status: .requestHeaderFieldsTooLarge, explanation: "The head or the trailer is longer than \(limit) bytes.")
    }

    static func bodyTooLarge(_ limit: Int) -> Self {
        Self(status: .contentTooLarge, explanation: "The body is longer than \(limit) bytes.")
    }

    static func unknownCoding(_ coding: String) -> Self {
        Self(status: .notImplemented, explanation: "The transfer coding \(coding) is not implemented.")
    }

    static let unknownVersion = Self(
        status: .httpVersionNotSupported, explanation: "This server speaks HTTP/1.0 and HTTP/1.1.")
}
