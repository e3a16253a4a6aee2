import LoaderChainPlatformFoundation

/// The reason why a payload cannot be read.
///
/// The bytes are not lost: ``MetricKitReport`` keeps them, and they can be submitted as they are.
public struct PayloadError: Error, Sendable, Hashable {
    /// The kind of the error.
    public enum Code: String, Sendable, Hashable {
        /// The bytes are not JSON, or are incomplete.
        case notJSON
        /// The bytes are JSON, but not a payload of the requested kind.
        case notAPayload
        /// The payload exceeds a limit.
        ///
        /// The limits are 64 MiB of text, 4,194,304 values, and 65,536 nested objects and arrays; 16,384 diagnostics,
        /// and as many leftovers. ``DiagnosticReader`` reads any number of diagnostics; the
        /// other limits apply to each of them.
        case tooLarge
    }

    /// The kind of the error.
    public let code: Code
    /// What is wrong, and where.
    public let reason: String

    init(code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    init(_ problem: JSONProblem) {
        if problem.reason.isLimit {
            self.init(code: .tooLarge, reason: "This is larger than any payload: \(problem).")
        } else {
            self.init(code: .notJSON, reason: "This is not valid JSON: \(problem).")
        }
    }

    static var tooManyLeftovers: PayloadError {
        PayloadError(
            code: .tooLarge,
            reason: "This is larger than any payload: more than \(JSONLimits.kept) of its values belong nowhere.")
    }
}

extension PayloadError: CustomStringConvertible {
    /// What is wrong, and where.
    public var description: String { reason }
}

extension PayloadError: LocalizedError {
    /// What is wrong, where, and what to do about it.
    public var errorDescription: String? {
        let advice =
            switch code {
            case .notJSON: "Pass all bytes of `jsonRepresentation()`, as they came."
            case .notAPayload: "Read what can be of any kind with `MetricKitReport`."
            case .tooLarge: "Keep the bytes, and find out what wrote them."
            }
        return "\(reason) \(advice)"
    }
}
