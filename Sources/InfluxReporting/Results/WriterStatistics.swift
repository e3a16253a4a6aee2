import LineProtocol

/// What a writer has done so far, and what it holds now.
///
/// Every point that was handed in is in one place: ``accepted`` is the sum of ``delivered``, ``rejected``, all of ``dropped``
/// and ``held``, except while a point moves from one to another. Points that an earlier launch left count as accepted
/// when they are found.
public struct WriterStatistics: Sendable, Hashable {
    /// Points that were written, by the app and by the writer itself.
    public internal(set) var accepted = 0
    /// Points that a server took.
    public internal(set) var delivered = 0
    /// Points that a server refused and would refuse again.
    public internal(set) var rejected = 0
    /// Points that were lost before a server saw them, by reason.
    public internal(set) var dropped: [DropReason: Int] = [:]
    /// Points that wait, or are on their way.
    public internal(set) var held = 0
    /// The room that they take up, in memory or on the disk.
    public internal(set) var heldBytes = 0
    /// Points that came while the disk failed, so that memory alone held them.
    public internal(set) var unsaved = 0
    /// Batches whose sending began, including those that were tried again.
    public internal(set) var batches = 0
    /// Requests that this took.
    public internal(set) var requests = 0
    /// The bytes of the requests' bodies, as they went over the wire.
    public internal(set) var bytesSent = 0
    /// Batches that were not delivered in full, so that the rest had to be kept.
    public internal(set) var failures = 0
    /// The obstacle that the last batch met; nil if it met none.
    public internal(set) var obstacle: WriteObstacle?
    /// Repairs of points whose content has no encoding that every server understands.
    public internal(set) var repairs = Repairs()

    /// All that was dropped.
    public var droppedTotal: Int { dropped.values.reduce(0, +) }

    /// No points so far.
    public init() {}

    mutating func note(_ outcome: BatchOutcome) {
        delivered += outcome.deliveredCount
        rejected += outcome.rejectedCount
        requests += outcome.requests
        bytesSent += outcome.bytesSent
        obstacle = outcome.obstacle
        if outcome.obstacle != nil { failures += 1 }
    }
}
