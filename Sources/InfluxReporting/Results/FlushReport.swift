/// What became of the points that a flush waited for.
public struct FlushReport: Sendable, Hashable {
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
