/// Why a body cannot be encoded or read.
///
/// Its text says what was wrong, with which value, and what to do. It never quotes the content of a body.
public struct HTTPBodyError: Error, Sendable, CustomStringConvertible {
    /// The whole story in a sentence or two.
    public let reason: String

    /// The error that led to this one, where there was one.
    ///
    /// It is not part of the description, since nobody knows what it quotes.
    public let underlyingError: (any Error)?

    /// An error that says `reason`.
    public init(_ reason: String, underlyingError: (any Error)? = nil) {
        self.reason = reason
        self.underlyingError = underlyingError
    }

    /// The ``reason``.
    public var description: String { reason }
}
