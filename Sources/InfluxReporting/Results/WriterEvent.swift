import LoaderChain

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
