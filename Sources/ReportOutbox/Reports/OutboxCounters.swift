// Reports: what an app sees of reports: identifiers, events, losses, errors, and what it may provide. It may use Coding.

/// Counts of what became of reports since the box was opened.
public struct OutboxCounters: Hashable, Sendable {
    /// Reports that were taken in.
    public internal(set) var accepted = 0
    /// Submissions that joined a report in the box.
    public internal(set) var joined = 0
    /// Reports that an earlier launch had left.
    public internal(set) var found = 0
    /// Attempts that were begun.
    public internal(set) var attempts = 0
    /// Attempts after which another was to follow.
    public internal(set) var retries = 0
    /// Reports that arrived.
    public internal(set) var delivered = 0
    /// Submissions that were refused, by the error's kind.
    public internal(set) var refused: [OutboxError.Code: Int] = [:]
    /// Reports that are gone without having arrived, by the reason's name.
    public internal(set) var dropped: [String: Int] = [:]
    /// Reports that were set aside, by the reason's name.
    public internal(set) var setAside: [String: Int] = [:]

    /// Counts what an event tells.
    mutating func count(_ event: ReportEvent) {
        switch event {
        case .accepted: accepted += 1
        case .joined: joined += 1
        case .found: found += 1
        case .sending: attempts += 1
        case .delivered: delivered += 1
        case .willRetry: retries += 1
        case .setAside(_, let loss): setAside[loss.name, default: 0] += 1
        case .dropped(_, let loss): dropped[loss.name, default: 0] += 1
        // What concerns no report is told, and not counted.
        case .foreignFiles, .trouble: break
        }
    }
}
