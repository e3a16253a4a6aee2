import LoaderChain

/// Why something is no destination.
///
/// The text quotes nothing that could be a secret.
public struct InfluxDestinationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong of that which a destination is made of.
    public enum Part: String, Sendable, Hashable {
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

    /// What is wrong.
    public let part: Part
    /// What is wrong with it and what to do, as the rest of a sentence that begins with the part.
    let problem: String

    init(_ part: Part, _ problem: String) {
        self.part = part
        self.problem = problem
    }

    /// A sentence on what is wrong and what to do.
    public var description: String { "The \(part.rawValue) \(problem)." }

    /// Throws for a text that is empty or has control characters in it, which nobody means to be there.
    static func check(_ text: String, as part: Part, mayBeEmpty: Bool = false) throws(Self) {
        if text.isEmpty, !mayBeEmpty { throw Self(part, "is empty") }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw Self(part, "has a control character in it, such as a line end; take it out")
        }
    }
}
