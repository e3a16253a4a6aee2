/// How far a writer that can wait is ahead of its reader: a pure value.
///
/// | state | the writer | what ends the state |
/// |---|---|---|
/// | flowing | writes | it asks for room when ``most`` bytes are unread |
/// | held | waits to be told | the reader leaves no more than ``enough`` unread |
///
/// Between the two limits nothing changes, so that a reader that is hardly slower does not stop the writer at every chunk.
package struct ChunkFlow {
    /// From how many unread bytes on the writer waits.
    package static let most = 256 << 10
    /// With how many unread bytes at most it goes on.
    package static let enough = 64 << 10

    private(set) var unread = 0
    private(set) var isHeld = false

    package init() {}

    /// Whether the writer may write now; if not, it is held.
    package mutating func mayWrite() -> Bool {
        if unread >= Self.most { isHeld = true }
        return !isHeld
    }

    package mutating func wrote(_ count: Int) { unread += count }

    /// Notes that bytes were read; returns whether the writer was held and may go on.
    package mutating func read(_ count: Int) -> Bool {
        unread -= count
        guard isHeld, unread <= Self.enough else { return false }
        isHeld = false
        return true
    }
}
