import LineProtocol

/// What a writer has done so far, and what it holds.
///
/// Every point that was handed in is in one place: ``accepted`` is the sum of ``delivered``, ``rejected``, all of ``dropped``
/// and ``held``, as soon as nothing is on its way from one to another. Points that an earlier launch left count as accepted
/// when they are found.
public struct WriterStatistics: Sendable, Hashable {
    /// Points that were handed in, by the app and by the writer itself.
    public internal(set) var accepted = 0
    /// Points that a server took.
    public internal(set) var delivered = 0
    /// Points that a server refused and would refuse again.
    public internal(set) var rejected = 0
    /// Points that are gone without a server having seen them, by reason.
    public internal(set) var dropped: [DropReason: Int] = [:]
    /// Points that wait, or are on their way.
    public internal(set) var held = 0
    /// The room that they take up, in memory or on the disk.
    public internal(set) var heldBytes = 0
    /// Points that came while the disk failed, so that memory alone held them.
    public internal(set) var unsaved = 0
    /// Batches that were begun to be sent, those that were tried again included.
    public internal(set) var batches = 0
    /// Requests that this took.
    public internal(set) var requests = 0
    /// The bytes of the requests' bodies, as they went over the wire.
    public internal(set) var bytesSent = 0
    /// Batches of which something had to be kept.
    public internal(set) var failures = 0
    /// What was in the way of the last batch; nil if nothing was.
    public internal(set) var obstacle: WriteObstacle?
    /// What had to be changed in points because it has no encoding that every server understands.
    public internal(set) var repairs = Repairs()

    /// All that was dropped.
    public var droppedTotal: Int { dropped.values.reduce(0, +) }

    /// Nothing so far.
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
