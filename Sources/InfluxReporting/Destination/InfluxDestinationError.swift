import LoaderChainPlatformFoundation

/// Why a destination cannot be used.
///
/// The text quotes nothing that could be a secret.
public struct InfluxDestinationError: Error, Sendable, Hashable {
    /// The part of a destination that is wrong.
    public enum Code: String, Sendable, Hashable {
        /// The server's address.
        case address
        /// The name of the database.
        case database
        /// The name of the retention policy.
        case retentionPolicy = "retention policy"
        /// The name of the organization.
        case organization
        /// The name of the bucket.
        case bucket
        /// The name of the user.
        case user
        /// The password.
        case password
        /// The token, or another secret value of a header.
        case token
        /// The header that carries the credentials.
        case header
    }

    /// The part that is wrong.
    public let code: Code

    /// What is wrong and what to do, as a sentence; no secrets.
    public let reason: String

    /// An error about a part, with the rest of a sentence that begins with it.
    init(_ code: Code, _ problem: String) {
        self.code = code
        reason = "The \(code.rawValue) \(problem)."
    }

    /// Throws for a text that is empty or has control characters in it, which are there by mistake.
    static func check(_ text: String, as part: Code, mayBeEmpty: Bool = false) throws(Self) {
        if text.isEmpty, !mayBeEmpty { throw Self(part, "is empty") }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw Self(part, "has a control character in it, such as a line end; take it out")
        }
    }
}

extension InfluxDestinationError: CustomStringConvertible, LocalizedError {
    /// The ``reason``.
    public var description: String { reason }

    /// The ``reason``, for code that shows `localizedDescription`.
    public var errorDescription: String? { reason }
}
