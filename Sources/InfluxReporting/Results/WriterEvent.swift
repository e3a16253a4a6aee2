import LoaderChain

/// Something that happened to points, or to the writer.
public enum WriterEvent: Sendable, Hashable {
    /// So many points arrived.
    case delivered(Int)
    /// The server refused points of a batch, and would again: the lines that it named with its reasons, and how many in all.
    case rejected([RejectedLine], count: Int)
    /// Something is in the way. Points are kept, and tried again after a while.
    ///
    /// Of ``WriteObstacle/refused(_:reason:)`` the app should hear: somebody has to set something right.
    case kept(Int, because: WriteObstacle, retryAfter: Duration)
    /// So many points are gone without a server having seen them; told once in a second at most for each reason.
    case dropped(Int, DropReason)
    /// An earlier launch left so many files with points, which are being sent.
    case found(files: Int)
    /// A file of an earlier launch was damaged in so many bytes; what could be read of it is being sent.
    ///
    /// The file is kept under its name with `.damaged` behind it, once its whole lines have been sent.
    case damaged(file: String, bytes: Int)
    /// There are files in the directory that are none of the writer's; they stay, and these are the first of them.
    case foreignFiles(count: Int, names: [String])
    /// Something could not be done on the disk; the text says what. The writer goes on as well as it can.
    case trouble(String)
}
