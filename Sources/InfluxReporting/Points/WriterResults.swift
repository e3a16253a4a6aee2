import LineProtocol
import LoaderChain

/// The result of writing a point: where it is held, or why it was dropped.
public enum WriteResult: Sendable, Hashable {
    /// The point is in a file of the writer's directory, where it survives the end of the process.
    case saved
    /// The point is held in memory: the writer has no directory, or its disk fails.
    ///
    /// A writer with a directory saves such points as soon as the disk works again.
    case inMemory
    /// The point was lost, for this reason.
    case dropped(DropReason)

    /// Whether the writer holds the point and will send it.
    public var isHeld: Bool {
        if case .dropped = self { false } else { true }
    }

    /// The reason why the point was lost; nil if it is held.
    public var dropReason: DropReason? {
        if case .dropped(let reason) = self { reason } else { nil }
    }
}

/// The outcome for the points that a flush waited for.
public struct FlushReport: Sendable, Hashable {
    /// The reason why points are still pending.
    public enum PendingReason: Sendable, Hashable {
        /// The last batch could not be delivered.
        case failure(DeliveryFailure)
        /// The time limit was reached.
        case deadline
        /// The Swift task that waited was cancelled.
        case cancelled
    }

    /// The number of points that the server stored.
    public internal(set) var delivered = 0
    /// The number of points that the server rejected for good.
    public internal(set) var rejected = 0
    /// The rejected points that the server identified, with its reasons; at most the first 100.
    public internal(set) var rejections: [RejectedLine] = []
    /// The numbers of points that were dropped while the flush waited, by reason.
    public internal(set) var dropped: [DropReason: Int] = [:]
    /// The number of points that the writer still holds and keeps trying to send.
    public internal(set) var pending = 0
    /// The reason why points are pending; nil if there are none.
    public internal(set) var pendingReason: PendingReason?

    static let maximumRejections = 100

    /// Whether every point was delivered.
    public var isComplete: Bool { rejected == 0 && pending == 0 && dropped.isEmpty }

    mutating func note(_ outcome: BatchOutcome) {
        delivered += outcome.deliveredCount
        rejected += outcome.rejectedCount
        rejections += outcome.rejected.prefix(max(0, Self.maximumRejections - rejections.count))
    }

    mutating func note(_ count: Int, _ reason: DropReason) {
        if count > 0 { dropped[reason, default: 0] += count }
    }

    func pending(_ points: Int, because reason: PendingReason) -> FlushReport {
        var report = self
        guard points > 0 else { return report }
        report.pending = points
        report.pendingReason = reason
        return report
    }
}

/// The counts of a writer so far, and the points that it holds now.
///
/// Every point is in one of these counts: ``accepted`` is the sum of ``delivered``, ``rejected``, all of ``dropped`` and ``held``.
/// Points that an earlier launch left count as accepted when they are found.
public struct WriterStatistics: Sendable, Hashable {
    /// The number of points that were written, by the app and by the writer itself.
    public internal(set) var accepted = 0
    /// The number of points that a server stored.
    public internal(set) var delivered = 0
    /// The number of points that a server rejected for good.
    public internal(set) var rejected = 0
    /// The numbers of points that were lost before a server received them, by reason.
    public internal(set) var dropped: [DropReason: Int] = [:]
    /// The number of points that wait or are in flight.
    public internal(set) var held = 0
    /// The size of the held points in bytes, in memory or on the disk.
    public internal(set) var heldBytes = 0
    /// The number of points that were written while the disk failed, and were therefore held only in memory.
    public internal(set) var unsaved = 0
    /// The number of batches sent, retries included.
    public internal(set) var batches = 0
    /// The number of requests for these batches.
    public internal(set) var requests = 0
    /// The number of bytes in the bodies of these requests, after compression.
    public internal(set) var bytesSent = 0
    /// The number of batches that were not settled in full, so that lines of them stayed pending.
    public internal(set) var failures = 0
    /// The failure of the last batch; nil if it was settled in full.
    public internal(set) var lastFailure: DeliveryFailure?
    /// The repairs of points that have no encoding that every server understands.
    public internal(set) var repairs = Repairs()

    /// The number of dropped points.
    public var droppedTotal: Int { dropped.values.reduce(0, +) }

    mutating func note(_ outcome: BatchOutcome) {
        delivered += outcome.deliveredCount
        rejected += outcome.rejectedCount
        requests += outcome.requests
        bytesSent += outcome.bytesSent
        lastFailure = outcome.failure
        if outcome.failure != nil { failures += 1 }
    }
}

/// An event about points or about the writer.
public enum WriterEvent: Sendable, Hashable {
    /// The server stored this number of points.
    case delivered(Int)
    /// The server rejected points of a batch for good: the first of the lines that it named, with its reasons, and the total number.
    ///
    /// There are at most 100 of these lines, and fewer if they are long; a single long one is cut.
    case rejected([RejectedLine], count: Int)
    /// A batch could not be delivered. Its points stay pending, and are sent again after the given delay.
    ///
    /// Show ``DeliveryFailure/refused(_:reason:)`` to a person: somebody has to fix the cause.
    case deliveryFailed(DeliveryFailure, pending: Int, retryAfter: Duration)
    /// This number of points was lost before a server received them.
    ///
    /// It is reported at most once a second for each reason, and at once when the writer is flushed or has been shut down.
    case dropped(Int, DropReason)
    /// Files with points of an earlier launch were found, and their points are being sent.
    case found(files: Int)
    /// This number of bytes of a file is damaged or missing; the intact lines of the file are being sent.
    ///
    /// After its intact lines have been sent, the file is kept with `.damaged` appended to its name.
    case damaged(file: String, bytes: Int)
    /// The directory contains files that do not belong to the writer; it does not touch them. The names are those of the first few.
    case foreignFiles(count: Int, names: [String])
    /// A disk operation failed; the text says which. The writer continues as well as it can.
    case trouble(String)
}
