import LoaderChain
import Testing

/// What the guides take for given in their tests.
struct User: Codable, Sendable { var name: String }
