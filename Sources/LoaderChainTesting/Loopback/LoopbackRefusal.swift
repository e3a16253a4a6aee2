/// Why a request was refused before any route saw it.
package struct LoopbackRefusal: Error, Sendable, Hashable {
    /// The status of the answer.
    package let status: Int
    /// The sentence in the body of the answer.
    package let explanation: String

    static func badRequest(_ explanation: String) -> Self {
        Self(status: 400, explanation: explanation)
    }

    static func headTooLarge(_ limit: Int) -> Self {
        Self(status: 431, explanation: "The head or the trailer is longer than \(limit) bytes.")
    }

    static func bodyTooLarge(_ limit: Int) -> Self {
        Self(status: 413, explanation: "The body is longer than \(limit) bytes.")
    }

    static func unknownCoding(_ coding: String) -> Self {
        Self(status: 501, explanation: "The transfer coding \(coding) is not implemented.")
    }

    static let unknownVersion = Self(status: 505, explanation: "This server speaks HTTP/1.0 and HTTP/1.1.")
}
