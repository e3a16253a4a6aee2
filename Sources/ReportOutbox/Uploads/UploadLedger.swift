import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// The directory of uploads that continue without the app.
///
///     lock             held while this process uses the directory
///     <id>.body        the bytes of an upload, as the system reads them
///     <id>.upload      the upload's content, and the server's answer once it has arrived
///     tmp-…            a record that is being written
///
/// The bytes are written first, then the record; then the upload starts. So every upload of the system has a record.
struct UploadLedger: Sendable {
    let files: any Directory

    private static let recordSuffix = ".upload"
    private static let bodySuffix = ".body"
    private static let longestRecord = 1 << 20
    /// The time in milliseconds after which an answer that no task has requested belongs to a report that is gone.
    private static let longestUnclaimed: Int64 = 30 * 24 * 3600 * 1000

    static func body(_ id: UploadID) -> String { id.text + bodySuffix }

    // MARK: Opening

    /// Loads the records of all uploads, and removes all other files of the ledger.
    func open(now: Int64) throws(FileFailure) -> [UploadID: UploadRecord] {
        var records: [UploadID: UploadRecord] = [:]
        let names = try files.list("")
        for name in names {
            guard let id = Self.id(name, Self.recordSuffix) else { continue }
            let record = UploadRecord(encoded: try read(name))
            guard let record, record.answer == nil || Self.isRecent(record.written, now) else {
                try? files.remove(name)
                continue
            }
            records[id] = record
        }
        for name in names {
            let body = Self.id(name, Self.bodySuffix)
            let isLeft = body.map { records[$0] == nil || records[$0]?.answer != nil } ?? false
            if isLeft || name.hasPrefix(RecordName.temporaryPrefix) { try? files.remove(name) }
        }
        return records
    }

    private static func id(_ name: String, _ suffix: String) -> UploadID? {
        name.hasSuffix(suffix) ? UploadID(String(name.dropLast(suffix.count))) : nil
    }

    /// Reads a record; returns no bytes for a file that is too long to be one.
    private func read(_ name: String) throws(FileFailure) -> Data {
        do throws(FileFailure) {
            return try files.contents(of: name, upTo: Self.longestRecord)
        } catch {
            if error.isTooLong { return Data() }
            throw error
        }
    }

    /// Whether an answer that was written at a time is kept; any time may stand in a file.
    private static func isRecent(_ written: Int64, _ now: Int64) -> Bool {
        let (age, isOverflow) = now.subtractingReportingOverflow(written)
        return isOverflow ? written > now : age <= longestUnclaimed
    }

    // MARK: Writing

    /// Copies the body of a request to a file for the system, and returns the content of the upload.
    func writeBody(_ id: UploadID, of request: EncodedRequest, key: String) throws -> UploadRecord.Content {
        var digest = SHA256()
        digest.add(Data("\(request.method.rawValue) \(request.url.absoluteString)\n".utf8))
        do {
            let file = try files.create(Self.body(id))
            var length: Int64 = 0
            var reader = request.content.makeReader()
            while let piece = try reader.read(upTo: RecordForm.pieceLength) {
                digest.add(piece)
                try file.write(piece, at: length)
                length += Int64(piece.count)
            }
            // The record must not be on the disk without the bytes that the system sends for it.
            try file.sync()
            try file.close()
        } catch {
            discardBody(id)
            throw error
        }
        return UploadRecord.Content(key: key, digest: Hexadecimal.text(of: digest.finish()))
    }

    /// Saves the record of an upload; the upload must not start before this method has returned.
    func write(_ id: UploadID, _ record: UploadRecord) throws(FileFailure) {
        try files.replace(
            id.text + Self.recordSuffix, with: record.encoded, through: RecordName.temporaryPrefix + id.text)
    }

    /// Removes the bytes of an upload; if that fails, the next launch removes them.
    func discardBody(_ id: UploadID) { try? files.remove(Self.body(id)) }

    /// Removes all files of an upload, the record first: bytes without a record are ignored.
    func forget(_ id: UploadID) {
        try? files.remove(id.text + Self.recordSuffix)
        discardBody(id)
    }
}

/// The identifier of an upload, which is never reused: neither for another report, nor for the same report later; the system stores it
/// with its task, and reports it in later launches.
struct UploadID: Hashable, Sendable {
    let text: String

    private static let prefix = "upload-"
    private static let plain = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789-")

    init() { text = Self.prefix + UUID().uuidString.lowercased() }

    /// Parses an identifier; nil for the description of a foreign task.
    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= 100, text.utf8.allSatisfy(Self.plain.contains) else {
            return nil
        }
        self.text = text
    }
}

enum UploadEnd: Hashable, Sendable {
    case answered(HTTPStatus, HTTPHeaders)
    /// The upload ended without an answer.
    case failed(HTTPError.Code)

    /// The result for a task that waited for the upload.
    func result(for request: HTTPRequest, loader: String) -> HTTPResult {
        switch self {
        case .answered(let status, let headers):
            .success(HTTPResponse(request: request, status: status, headers: headers))
        case .failed(let code): .failure(HTTPError(code, request: request, loader: loader))
        }
    }
}

struct UploadRecord: Hashable, Sendable {
    /// The content of an upload; uploads with the same content have the same effect on the server.
    struct Content: Hashable, Sendable {
        /// The `Idempotency-Key`.
        let key: String
        /// A digest of method, address and bytes.
        let digest: String
    }

    let content: Content
    /// The date of the record, in milliseconds since 1970: when the upload started, or when its answer arrived.
    let written: Int64
    /// The server's answer, once it has arrived.
    var answer: UploadEnd?
}

extension UploadRecord {
    private static let version: UInt8 = 2

    /// The record as bytes, with a checksum at the end, and without response headers that may contain secrets.
    var encoded: Data {
        var writer = ByteWriter()
        writer.append(Self.version)
        writer.append(content.key)
        writer.append(content.digest)
        writer.append(written)
        if case .answered(let status, let headers) = answer {
            writer.append(UInt8(1))
            writer.append(Int64(status.rawValue))
            writer.append(HTTPHeaders(headers.filter { !HTTPHeaders.isSecret($0.name) }))
        } else {
            writer.append(UInt8(0))
        }
        writer.append(CRC32C.value(of: writer.bytes))
        return writer.bytes
    }

    /// Decodes a record; nil if the bytes are incomplete or damaged.
    init?(encoded: Data) {
        guard encoded.count > 4 else { return nil }
        var tail = ByteReader(Data(encoded.suffix(4)))
        guard tail.number(UInt32.self) == CRC32C.value(of: Data(encoded.dropLast(4))) else { return nil }
        var reader = ByteReader(Data(encoded.dropLast(4)))
        guard reader.number(UInt8.self) == Self.version, let key = reader.text(), let digest = reader.text(),
            let written = reader.number(Int64.self), let isAnswered = reader.number(UInt8.self)
        else { return nil }
        content = Content(key: key, digest: digest)
        self.written = written
        if isAnswered == 1 {
            guard let status = reader.number(Int64.self), let headers = reader.headers() else { return nil }
            answer = .answered(HTTPStatus(Int(clamping: status)), headers)
        }
        guard reader.isAtEnd else { return nil }
    }
}
