import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// The bytes of a report, read from its file piece by piece while they are sent.
struct StoredBody: HTTPBody {
    let files: any Directory
    let path: String
    let range: Range<Int64>
    /// How many bytes the report has.
    let length: Int64
    let id: ReportID
    let seal: (any ReportSeal)?

    var isEmpty: Bool { length == 0 }

    func encode() throws -> HTTPBodyContent {
        guard length > 0 else { return .empty }
        if seal == nil, let url = files.url(of: path) {
            return HTTPBodyContent(segments: [.file(try FileSlice(url, bytes: range))])
        }
        let pieces = StoredPieces(file: try files.open(path), range: range, id: id, seal: seal)
        return HTTPBodyContent(segments: [.stream(HTTPBodyStream(length: length) { try pieces.next() })])
    }
}

/// The bytes of a report, unsealed one piece after the other.
private final class StoredPieces: Sendable {
    private let file: any DurableFile
    private let range: Range<Int64>
    private let id: ReportID
    private let seal: (any ReportSeal)?
    private let place: Locked<(offset: Int64, piece: Int)>

    init(file: any DurableFile, range: Range<Int64>, id: ReportID, seal: (any ReportSeal)?) {
        self.file = file
        self.range = range
        self.id = id
        self.seal = seal
        place = Locked((range.lowerBound, 0))
    }

    func next() throws -> Data? {
        // Pieces are read one after the other, so the place does not change between the two locks.
        let (offset, piece) = place.withLock { $0 }
        guard offset < range.upperBound else { return nil }
        guard let seal else {
            let bytes = try read(Int(min(Int64(RecordForm.pieceLength), range.upperBound - offset)), at: offset)
            place.withLock { $0 = (offset + Int64(bytes.count), piece) }
            return bytes
        }
        var prefix = ByteReader(try read(4, at: offset))
        guard let length = prefix.number(UInt32.self), length <= RecordForm.longestSealedPiece else { throw damage }
        let sealed = try read(Int(length), at: offset + 4)
        place.withLock { $0 = (offset + 4 + Int64(length), piece + 1) }
        return try seal.open(sealed, context: RecordForm.context(id, "\(piece)"))
    }

    private func read(_ count: Int, at offset: Int64) throws -> Data {
        guard offset + Int64(count) <= range.upperBound else { throw damage }
        var bytes = Data()
        while bytes.count < count {
            let more = try file.read(count - bytes.count, at: offset + Int64(bytes.count))
            guard !more.isEmpty else { throw damage }
            bytes.append(more)
        }
        return bytes
    }

    private var damage: HTTPBodyError { HTTPBodyError("The report changed while it was being sent.") }
}
