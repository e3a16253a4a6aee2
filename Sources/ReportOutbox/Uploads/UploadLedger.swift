import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// The directory of uploads that go on without the app.
///
///     lock             held while this process uses the directory
///     <id>.body        the bytes of an upload, as the system reads them
///     <id>.upload      what is uploaded, and the server's answer once there is one
///     tmp-…            a record that is being written
///
/// Bytes come first, then the record, then the upload; so every upload of the system is known here.
struct UploadLedger: Sendable {
    let files: any Directory

    private static let recordSuffix = ".upload"
    private static let bodySuffix = ".body"
    private static let longestRecord = 1 << 20
    /// An answer that was not asked for in so many milliseconds belongs to a report that is gone.
    private static let longestUnclaimed: Int64 = 30 * 24 * 3600 * 1000

    static func body(_ id: UploadID) -> String { id.text + bodySuffix }

    // MARK: Opening

    /// The uploads that were begun and not forgotten; everything else of the ledger's is swept.
    func open(now: Int64) throws(FileFailure) -> [UploadID: UploadRecord] {
        var records: [UploadID: UploadRecord] = [:]
        let names = try files.list("")
        for name in names {
            guard let id = Self.id(name, Self.recordSuffix) else { continue }
            let record = UploadRecord(encoded: try read(name))
            guard let record, record.answer == nil || now - record.written <= Self.longestUnclaimed else {
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

    /// The bytes of a record; none of a file that is too long for one.
    private func read(_ name: String) throws(FileFailure) -> Data {
        do throws(FileFailure) {
            return try files.contents(of: name, upTo: Self.longestRecord)
        } catch {
            if error.isTooLong { return Data() }
            throw error
        }
    }

    // MARK: Writing

    /// Copies the bytes of a request to where the system reads them, and returns what is uploaded.
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
            try file.close()
        } catch {
            discardBody(id)
            throw error
        }
        return UploadRecord.Content(key: key, digest: Hexadecimal.text(of: digest.finish()))
    }

    /// Writes down an upload; nothing may begin before this has returned.
    func write(_ id: UploadID, _ record: UploadRecord) throws(FileFailure) {
        try files.replace(
            id.text + Self.recordSuffix, with: record.encoded, through: RecordName.temporaryPrefix + id.text)
    }

    /// Removes the bytes of an upload; what cannot be removed is swept in the next launch.
    func discardBody(_ id: UploadID) { try? files.remove(Self.body(id)) }

    /// Removes all of an upload, its record first: bytes alone mean nothing.
    func forget(_ id: UploadID) {
        try? files.remove(id.text + Self.recordSuffix)
        discardBody(id)
    }
}

/// The name of one upload, which no other upload ever has: not of another report, and not of the same report later.
///
/// The system keeps it beside its own task and tells it again in later launches.
struct UploadID: Hashable, Sendable {
    let text: String

    private static let prefix = "upload-"

    /// A name that was never used.
    init() { text = Self.prefix + UUID().uuidString.lowercased() }

    /// The name that a text is; nil for the text of a task that is not ours.
    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= 100,
            text.utf8.allSatisfy({
                ASCII.isDigit($0) || $0 == UInt8(ascii: "-") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
            })
        else { return nil }
        self.text = text
    }
}

enum UploadEnd: Hashable, Sendable {
    case answered(HTTPStatus, HTTPHeaders)
    /// There was no answer.
    case failed(HTTPError.Code)

    /// The end as the result of a task that waited for it.
    func result(for request: HTTPRequest, loader: String) -> HTTPResult {
        switch self {
        case .answered(let status, let headers):
            .success(HTTPResponse(request: request, status: status, headers: headers))
        case .failed(let code): .failure(HTTPError(code, request: request, loader: loader))
        }
    }
}

/// What the ledger knows of an upload.
struct UploadRecord: Hashable, Sendable {
    /// What is uploaded: two uploads of the same content bring the server the same thing.
    struct Content: Hashable, Sendable {
        /// The `Idempotency-Key`.
        let key: String
        /// A digest of method, address and bytes.
        let digest: String
    }

    let content: Content
    /// When this was written, in milliseconds since 1970: when the upload began, or when its answer came.
    let written: Int64
    /// The server's answer, once there is one.
    var answer: UploadEnd?
}

extension UploadRecord {
    private static let version: UInt8 = 2

    /// The record as bytes, the last of which are a checksum.
    ///
    /// Headers that may hold secrets are left out: the answer of a server is not ours to write down whole.
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

    /// The record of bytes, or nil if they are not a whole one.
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
