import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// The reason why a report's file cannot be used.
enum RecordProblem: Error {
    case damaged
    /// The seal cannot be opened.
    case sealed
    case missing(FileFailure)
    /// Reading failed, perhaps temporarily.
    case failure(FileFailure)

    init(_ failure: FileFailure) { self = failure.isMissing ? .missing(failure) : .failure(failure) }
}

/// A report's file, opened and completely verified.
struct RecordReader: Sendable {
    let head: RecordHead
    /// The range of the body in the file.
    let body: Range<Int64>
    /// The size of the report in bytes.
    let length: Int64
    let isSealed: Bool
    /// The file that was verified, by which it is known when it is opened again; nil for one that is not in the file system.
    let stamp: FileStamp?

    /// Reads the head, and verifies the body too if `checksBody` is true.
    init(_ file: any DurableFile, seal: (any ReportSeal)?, checksBody: Bool = true) throws(RecordProblem) {
        let fileLength: Int64
        do throws(FileFailure) {
            stamp = try (file as? FileDescriptor)?.stamp()
            fileLength = try file.length()
        } catch {
            throw RecordProblem(error)
        }
        let start = try Self.readAll(file, Int(min(fileLength, Int64(RecordForm.pieceLength))), at: 0)
        var prefix = ByteReader(start)
        guard let mark = prefix.number(UInt32.self), [RecordForm.plainMark, RecordForm.sealedMark].contains(mark),
            let headLength = prefix.number(UInt32.self),
            let headChecksum = prefix.number(UInt32.self), headLength <= RecordForm.longestHead
        else { throw .damaged }
        let headEnd = RecordForm.headPrefixLength + Int(headLength)
        let encoded =
            headEnd <= start.count
            ? Data(start[RecordForm.headPrefixLength..<headEnd])
            : try Self.readAll(file, Int(headLength), at: Int64(RecordForm.headPrefixLength))
        guard CRC32C.value(of: encoded) == headChecksum else { throw .damaged }
        isSealed = mark == RecordForm.sealedMark
        head = try Self.head(encoded, isSealed: isSealed, seal: seal)

        let tailStart = fileLength - Int64(RecordForm.tailLength)
        guard tailStart >= headEnd else { throw .damaged }
        let isAllRead = Int64(start.count) == fileLength
        let tailBytes =
            isAllRead ? Data(start[Int(tailStart)...]) : try Self.readAll(file, RecordForm.tailLength, at: tailStart)
        var tail = ByteReader(tailBytes)
        guard let stored = tail.number(UInt64.self), let length = tail.number(UInt64.self),
            let checksum = tail.number(UInt32.self), tail.number(UInt32.self) == RecordForm.tailMark,
            stored == UInt64(tailStart - Int64(headEnd)), length <= UInt64(Int64.max)
        else { throw .damaged }
        body = Int64(headEnd)..<tailStart
        self.length = Int64(length)
        guard checksBody else { return }
        var found = CRC32C()
        if isAllRead {
            found.add(start[headEnd..<Int(tailStart)])
        } else {
            var offset = body.lowerBound
            while offset < body.upperBound {
                let piece = try Self.readAll(
                    file, Int(min(Int64(RecordForm.pieceLength), body.upperBound - offset)), at: offset)
                found.add(piece)
                offset += Int64(piece.count)
            }
        }
        guard found.value == checksum else { throw .damaged }
    }

    private static func head(
        _ encoded: Data, isSealed: Bool, seal: (any ReportSeal)?
    ) throws(RecordProblem) -> RecordHead {
        guard isSealed else {
            guard let head = RecordHead(encoded: encoded) else { throw .damaged }
            return head
        }
        guard let opened = try? seal?.open(encoded, context: RecordForm.headContext),
            let head = RecordHead(encoded: opened)
        else { throw .sealed }
        return head
    }

    private static func readAll(_ file: any DurableFile, _ count: Int, at offset: Int64) throws(RecordProblem) -> Data {
        let bytes: Data
        do throws(FileFailure) { bytes = try file.readAll(count, at: offset) } catch { throw RecordProblem(error) }
        guard bytes.count == count else { throw .damaged }
        return bytes
    }
}

/// The bytes of a report, read from its file piece by piece while they are sent.
struct StoredBody: HTTPBody {
    let files: any Directory
    let path: String
    let range: Range<Int64>
    /// The size of the report in bytes.
    let length: Int64
    let id: ReportID
    let seal: (any ReportSeal)?
    let stamp: FileStamp?

    var isEmpty: Bool { length == 0 }

    func encode() throws -> HTTPBodyContent {
        guard length > 0 else { return .empty }
        if seal == nil, let stamp, let url = files.url(of: path) {
            return HTTPBodyContent(segments: [.file(FileSlice(url, bytes: range, of: stamp))])
        }
        let pieces = StoredPieces(file: try files.open(path), range: range, id: id, seal: seal)
        return HTTPBodyContent(segments: [.stream(HTTPBodyStream(length: length) { try pieces.next() })])
    }
}

/// The bytes of a report, unsealed piece by piece.
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
        // Pieces are read one after the other, so the position does not change between the two locks.
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
        let bytes = try file.readAll(count, at: offset)
        guard bytes.count == count else { throw damage }
        return bytes
    }

    private var damage: HTTPBodyError { HTTPBodyError("The report changed while it was being sent.") }
}
