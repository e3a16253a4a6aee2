/// What became of a point that was written.
public enum WriteResult: Sendable, Hashable {
    /// The point is in a file of the writer's directory, where it survives the end of the process.
    case saved
    /// The point is held in memory: the writer has no directory, or its disk fails.
    ///
    /// A writer with a directory saves such points as soon as the disk works again.
    case inMemory
    /// The point is gone, for this reason.
    case dropped(DropReason)

    /// Whether the writer holds the point, and will send it.
    public var isHeld: Bool {
        if case .dropped = self { false } else { true }
    }

    /// Why the point is gone; nil if it is held.
    public var dropReason: DropReason? {
        if case .dropped(let reason) = self { reason } else { nil }
    }
}
