// Reports: identifiers, events, losses, counts and errors, as an app sees them. It may use Coding.

import LoaderChain
import LoaderChainPlatformFoundation

/// An event of a report, or of the outbox.
public enum ReportEvent: Hashable, Sendable {
    /// The report was accepted.
    case accepted(ReportID)
    /// A report with this identifier was in the outbox already; the submission was ignored.
    case joined(ReportID)
    /// The report was found on disk; an earlier launch submitted it at that date.
    case found(ReportID, submitted: Date)
    /// An attempt starts; the first has the number 1. An attempt that does not count has the same number as the next one.
    case sending(ReportID, attempt: Int)
    /// The report was delivered and removed; the status is nil if it is unknown.
    case delivered(ReportID, HTTPStatus?)
    /// An attempt failed, and the report will be retried.
    case willRetry(ReportID, at: Date, after: RetryCause)
    /// The report is a dead letter: kept for inspection, and no longer retried.
    case deadLettered(ReportID, because: ReportLoss)
    /// The report was deleted without having been delivered.
    case dropped(ReportID, because: ReportLoss)
    /// The directory contains foreign files, which are left alone; the names are the first of them.
    case foreignFiles(count: Int, names: [String])
    /// A disk operation failed, as the text describes. The outbox continues.
    case trouble(String)
}

/// The reason for a retry.
public enum RetryCause: Hashable, Sendable {
    /// The server answered with this status.
    case status(HTTPStatus)
    /// The attempt failed without a response.
    case error(HTTPError.Code)

    /// The loss of a report that is not retried.
    var loss: ReportLoss {
        switch self {
        case .status(let status): .refused(status)
        case .error(let code): .failed(code)
        }
    }
}

/// The reason why a report was dropped or became a dead letter.
public enum ReportLoss: Hashable, Sendable {
    /// The server permanently rejected the report with this status.
    case refused(HTTPStatus)
    /// The report cannot be sent, for a permanent reason.
    case failed(HTTPError.Code)
    /// The report exceeded the maximum age, and the last attempt failed.
    case expired
    /// The report exceeded the maximum number of attempts.
    case tooManyAttempts
    /// The report was evicted because the outbox, or its dead letters, reached a limit.
    case noRoom
    /// The handler of existing reports dropped the report.
    case byHandler
    /// The app purged the report.
    case purged
    /// The user denied or withdrew consent.
    case withoutConsent
    /// The file is damaged.
    case damaged
    /// The seal could not be opened: the key is lost or has changed.
    case sealed
    /// The file is missing: either the app's own file, or the outbox's file, which another program removed.
    case missingFile
    /// Another report with the same identifier is in the outbox.
    case duplicate

    /// The short name that counters, headers and file names use.
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

extension ReportLoss {
    /// The reason for the retry of a report that was to be lost, and stays.
    var cause: RetryCause {
        switch self {
        case .refused(let status): .status(status)
        case .failed(let code): .error(code)
        case .expired, .tooManyAttempts, .noRoom, .byHandler, .purged, .withoutConsent, .damaged, .sealed, .missingFile,
            .duplicate:
            .error(.unknown)
        }
    }
}

extension ReportLoss: CustomStringConvertible {
    /// The ``name``.
    public var description: String { name }
}

/// Counts of events since the outbox was opened.
public struct OutboxCounters: Hashable, Sendable {
    /// Accepted reports.
    public internal(set) var accepted = 0
    /// Submissions that were ignored because a report with their identifier was in the outbox.
    public internal(set) var joined = 0
    /// Reports of earlier launches.
    public internal(set) var found = 0
    /// Started attempts.
    public internal(set) var attempts = 0
    /// Failed attempts that were to be followed by a retry.
    public internal(set) var retries = 0
    /// Delivered reports.
    public internal(set) var delivered = 0
    /// Rejected submissions, by the code of the error.
    public internal(set) var refused: [OutboxError.Code: Int] = [:]
    /// Reports that were deleted without having been delivered, by the name of the reason.
    public internal(set) var dropped: [String: Int] = [:]
    /// Reports that became dead letters, by the name of the reason.
    public internal(set) var deadLettered: [String: Int] = [:]

    mutating func count(_ event: ReportEvent) {
        switch event {
        case .accepted: accepted += 1
        case .joined: joined += 1
        case .found: found += 1
        case .sending: attempts += 1
        case .delivered: delivered += 1
        case .willRetry: retries += 1
        case .deadLettered(_, let loss): deadLettered[loss.name, default: 0] += 1
        case .dropped(_, let loss): dropped[loss.name, default: 0] += 1
        // These concern no report, so they are not counted.
        case .foreignFiles, .trouble: break
        }
    }
}
