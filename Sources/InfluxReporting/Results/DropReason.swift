// Results: what a writer tells of points: events, reports, statistics. It may use Sending.

/// Why a point was lost before a server saw it.
public enum DropReason: String, Sendable, Hashable, CaseIterable, Codable {
    /// The writer held as much as its settings allow.
    case noRoom = "no-room"
    /// The line is longer than a batch may be, or than all that the writer may hold.
    case tooLarge = "too-large"
    /// The point has nothing that can be encoded, for example no field.
    case notEncodable = "not-encodable"
    /// The disk failed or is full, and memory had no room either; or the file that held the point could not be read.
    case disk
    /// The writer was shut down before the point came.
    case shutDown = "shut-down"
    /// The writer was shut down while it held the point in memory.
    case unsent
    /// The file that held the point was damaged.
    case damaged
}

extension DropReason: CustomStringConvertible {
    /// The word that statistics and points have for it.
    public var description: String { rawValue }
}
