import LineProtocol
import LoaderChain

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

/// What became of the points that a flush waited for.
public struct FlushReport: Sendable, Hashable {
    /// Why points are still held.
    public enum KeepCause: Sendable, Hashable {
        /// Something is in the way of delivering them.
        case obstacle(WriteObstacle)
        /// The time limit was reached.
        case deadline
        /// The Swift task that waited was cancelled.
        case cancelled
    }

    /// How many points arrived.
    public internal(set) var delivered = 0
    /// How many points the server refused; it would refuse them again.
    public internal(set) var rejected = 0
    /// The first of the refused points that the server named, with its reasons.
    public internal(set) var rejections: [RejectedLine] = []
    /// How many points were dropped while the flush waited, by reason.
    public internal(set) var dropped: [DropReason: Int] = [:]
    /// How many points the writer still holds, and goes on trying to send.
    public internal(set) var kept = 0
    /// Why it still holds them; nil if it holds none.
    public internal(set) var keptBecause: KeepCause?

    /// The most lines of ``rejections``.
    public static let mostRejections = 100

    /// No points so far.
    public init() {}

    /// Whether every point arrived.
    public var isComplete: Bool { rejected == 0 && kept == 0 && dropped.isEmpty }

    mutating func note(_ outcome: BatchOutcome) {
        delivered += outcome.deliveredCount
        rejected += outcome.rejectedCount
        rejections += outcome.rejected.prefix(max(0, Self.mostRejections - rejections.count))
    }

    mutating func note(_ count: Int, _ reason: DropReason) {
        if count > 0 { dropped[reason, default: 0] += count }
    }

    func keeping(_ points: Int, because cause: KeepCause) -> FlushReport {
        var report = self
        guard points > 0 else { return report }
        report.kept = points
        report.keptBecause = cause
        return report
    }
}

/// What a writer has done so far, and what it holds now.
///
/// Every point that was handed in is in one place: ``accepted`` is the sum of ``delivered``, ``rejected``, all of ``dropped``
/// and ``held``. Points that an earlier launch left count as accepted when they are found.
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

/// Something that happened to points, or to the writer.
public enum WriterEvent: Sendable, Hashable {
    /// So many points arrived.
    case delivered(Int)
    /// The server refused points of a batch, and would again: the lines that it named with its reasons, and how many in all.
    case rejected([RejectedLine], count: Int)
    /// An obstacle keeps points from being delivered. They are kept, and sent again after a while.
    ///
    /// Show ``WriteObstacle/refused(_:reason:)`` to a person: it lasts until something is set right.
    case kept(Int, because: WriteObstacle, retryAfter: Duration)
    /// So many points are lost before a server saw them; told at most once a second for each reason.
    case dropped(Int, DropReason)
    /// So many files with points of an earlier launch were found, and are being sent.
    case found(files: Int)
    /// So many bytes of a file are damaged, or are missing from it; the other lines of the file are being sent.
    ///
    /// The file is kept under its name with `.damaged` behind it, once its whole lines have been sent.
    case damaged(file: String, bytes: Int)
    /// The directory has files that are not the writer's; they stay, and these are the first of them.
    case foreignFiles(count: Int, names: [String])
    /// A disk operation failed; the text says which. The writer goes on as well as it can.
    case trouble(String)
}
