/// A line that the server will not have.
public struct RejectedLine: Sendable, Hashable, CustomStringConvertible {
    /// The line, without its end.
    public let line: String
    /// What the server has against it, in its words.
    public let reason: String

    /// Makes one, as tests do.
    public init(line: String, reason: String) {
        self.line = line
        self.reason = reason
    }

    /// The reason and the line.
    public var description: String { "\(reason): \(line)" }
}

/// Lines that the server will not have and does not name.
public struct UnnamedRejection: Sendable, Hashable, CustomStringConvertible {
    /// How many there are, as far as the server says; at least one otherwise.
    public let count: Int
    /// What the server has against them, in its words.
    public let reason: String

    /// Makes one, as tests do.
    public init(count: Int, reason: String) {
        self.count = count
        self.reason = reason
    }

    /// The count and the reason.
    public var description: String { "\(count) lines: \(reason)" }
}
