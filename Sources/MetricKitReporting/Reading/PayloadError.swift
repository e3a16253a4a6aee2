#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Why a payload cannot be read.
///
/// The bytes are not lost: ``MetricKitReport`` keeps them, and they can be submitted as they are.
public struct PayloadError: Error, Sendable, Hashable {
    /// What kind of reason it is.
    public enum Code: String, Sendable, Hashable {
        /// The bytes are not JSON, or not all of it.
        case notJSON
        /// It is JSON, and no payload of the kind that was asked for.
        case notAPayload
        /// It is larger than any payload is, and not read any further.
        ///
        /// The bounds are 64 MiB of text, 4,194,304 values, and 65,536 objects and arrays inside each other; 16,384 diagnostics,
        /// and as many values that the model has no place for. ``DiagnosticReader`` reads any number of diagnostics; the
        /// other bounds hold for each of them.
        case tooLarge
    }

    /// What kind of reason it is.
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
            self.init(code: .notJSON, reason: "This is no JSON: \(problem).")
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
