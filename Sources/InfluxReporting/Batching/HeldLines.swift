import LineProtocol

/// Lines that wait, in the form in which they came.
enum HeldLines: Sendable {
    /// A block that was filled in this life.
    case block(LineBlock)
    /// A block that is in its file alone, to be read when its turn comes.
    case stored(BlockFile)
    /// What is left of a batch that was tried, and the files that hold it until all of it is settled.
    case batch(LineBatch, files: [BlockFile])

    /// The files that hold the lines.
    var files: [BlockFile] {
        switch self {
        case .block(let block): block.file.map { [$0] } ?? []
        case .stored(let file): [file]
        case .batch(_, let files): files
        }
    }
}
