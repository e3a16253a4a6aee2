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
