import LineProtocol

/// Lines that wait, in the form in which they came.
enum HeldLines: Sendable {
    /// A block that was filled in this life.
    case block(LineBlock)
    /// A block that is in its file alone, to be read when its turn comes.
    case stored(BlockFile)
    /// What is left of a batch that was tried, the files that hold it until all of it is settled, and the lines that are in none.
    case batch(LineBatch, files: [BlockFile], unsaved: LineSet)

    /// The files that hold the lines.
    var files: [BlockFile] {
        switch self {
        case .block(let block): block.file.map { [$0] } ?? []
        case .stored(let file): [file]
        case .batch(_, let files, _): files
        }
    }

    /// Whether all of the lines are in files.
    var isSaved: Bool {
        switch self {
        case .block(let block): block.isSaved
        case .stored: true
        case .batch(_, _, let unsaved): unsaved.isEmpty
        }
    }

    /// How many of the lines are in no file.
    var unsavedCount: Int {
        switch self {
        case .block(let block): block.unsavedLines.count
        case .stored: 0
        case .batch(_, _, let unsaved): unsaved.count
        }
    }
}
