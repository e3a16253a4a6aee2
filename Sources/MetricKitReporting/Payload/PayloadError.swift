/// Why a payload cannot be read.
public struct PayloadError: Error, Sendable, Hashable {
    /// What kind of reason it is.
    public enum Code: String, Sendable, Hashable {
        /// The bytes are not JSON, or not all of it.
        case notJSON
        /// It is JSON, and no payload of the kind that was asked for.
        case notAPayload
    }

    /// What kind of reason it is.
    public let code: Code
    /// What is wrong, and where.
    public let reason: String

    static func notJSON(_ problem: JSONProblem) -> PayloadError {
        PayloadError(code: .notJSON, reason: "This is no JSON: \(problem).")
    }
}

extension PayloadError: CustomStringConvertible {
    /// What is wrong, and where.
    public var description: String { reason }
}
