/// Why a point is gone without a server having seen it.
public enum DropReason: String, Sendable, Hashable, CaseIterable, Codable {
    /// The writer held as much as its settings allow.
    case noRoom = "no-room"
    /// The line is longer than a batch may be.
    case tooLarge = "too-large"
    /// Nothing of the point can be encoded, as if it has no field.
    case notEncodable = "not-encodable"
    /// The disk failed, or is full, and in memory there was no room either.
    case disk
    /// The writer was shut down before the point came.
    case shutDown = "shut-down"
    /// The writer was shut down while it held the point in memory.
    case unsent
    /// The file that held the point was damaged, or somebody removed it.
    case damaged
}

extension DropReason: CustomStringConvertible {
    /// The word that stands in statistics and points.
    public var description: String { rawValue }
}
