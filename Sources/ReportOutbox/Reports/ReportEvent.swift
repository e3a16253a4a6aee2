// Reports: what an app sees of reports: identifiers, events, losses, counts and errors. It may use Coding.

import LoaderChain
import LoaderChainPlatformFoundation

/// Something that happened to a report, or to the box.
public enum ReportEvent: Hashable, Sendable {
    /// The report is in the box.
    case accepted(ReportID)
    /// A report of this identifier was in the box already, and goes on being the one.
    case joined(ReportID)
    /// An earlier launch left the report, which was submitted at that date.
    case found(ReportID, submitted: Date)
    /// An attempt begins, the first with number 1; after one that cost nothing, its number comes again.
    case sending(ReportID, attempt: Int)
    /// The server has it, and it left the box; the status is nil if it is not known.
    case delivered(ReportID, HTTPStatus?)
    /// An attempt failed, and another follows.
    case willRetry(ReportID, at: Date, after: RetryCause)
    /// The report is kept for inspection, and no longer tried.
    case setAside(ReportID, because: ReportLoss)
    /// The report is gone without having been delivered.
    case dropped(ReportID, because: ReportLoss)
    /// The directory has files that are not the box's; they stay, and these are the first of them.
    case foreignFiles(count: Int, names: [String])
    /// A disk operation failed; the text says which. The box goes on as well as it can.
    case trouble(String)
}

/// Why a report is tried again.
public enum RetryCause: Hashable, Sendable {
    /// The server answered with this status.
    case status(HTTPStatus)
    /// There was no answer.
    case error(HTTPError.Code)
}

/// Why a report was given up, dropped or set aside.
public enum ReportLoss: Hashable, Sendable {
    /// The server answered with this status, which repeating does not change.
    case refused(HTTPStatus)
    /// It could not be sent, for a reason that does not change.
    case failed(HTTPError.Code)
    /// It was older than the settings' maximum age, and the last attempt failed.
    case expired
    /// It was tried as often as the settings say.
    case tooManyAttempts
    /// It was the oldest, and a newer one needed its place.
    case noRoom
    /// The handler of existing reports said so.
    case byHandler
    /// The app purged it.
    case purged
    /// The user's consent was denied or withdrawn.
    case withoutConsent
    /// Its bytes are not what was written.
    case damaged
    /// It is sealed, and the seal could not be opened: the key is lost, or another.
    case sealed
    /// Its file is gone: the one that the app keeps, or the box's own, which another program removed.
    case missingFile
    /// Another report of the same identifier is in the box.
    case duplicate

    /// A word for it, such as stands in counters and file names.
    public var name: String {
        switch self {
        case .refused(let status): "refused-\(status.rawValue)"
        case .failed(let code): "failed-\(code.rawValue)"
        case .expired: "expired"
        case .tooManyAttempts: "too-many-attempts"
        case .noRoom: "no-room"
        case .byHandler: "by-handler"
        case .purged: "purged"
        case .withoutConsent: "without-consent"
        case .damaged: "damaged"
        case .sealed: "sealed"
        case .missingFile: "missing-file"
        case .duplicate: "duplicate"
        }
    }
}

extension ReportLoss: CustomStringConvertible {
    /// The ``name``.
    public var description: String { name }
}

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
