import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// The format of a report's file.
///
///     head     magic number, length and checksum of the request, then the request, encrypted if there is a seal
///     body     the report's bytes; encrypted in pieces, each after its length
///     tail     length of the body as stored and as submitted, its checksum, magic number
///
/// A file is written sequentially under a temporary name, and is renamed when it is complete.
enum RecordForm {
    static let plainMark: UInt32 = 0x3242_434C  // LCB2
    static let sealedMark: UInt32 = 0x3253_434C  // LCS2
    static let tailMark: UInt32 = 0x3245_434C  // LCE2
    static let headPrefixLength = 12
    static let tailLength = 24
    static let longestHead = 1 << 20
    /// The number of bytes that are read, verified or sealed at a time.
    static let pieceLength = 64 << 10
    static let longestSealedPiece = pieceLength + (64 << 10)

    /// The context of a head; it has no identifier, which is unknown before the head is opened.
    static let headContext = Data("head".utf8)

    /// The context of a piece, different from that of every other piece of any report.
    static func context(_ id: ReportID, _ piece: String) -> Data { Data("\(id.encoded)/\(piece)".utf8) }
}

struct RecordWriter {
    private let file: any DurableFile
    private let id: ReportID
    private let seal: (any ReportSeal)?
    private var checksum = CRC32C()
    private var storedLength: UInt64 = 0
    private(set) var length: Int64 = 0
    private var pieces = 0
    /// The number of bytes written to the file.
    private var written: Int64 = 0
    /// The buffered bytes, so that a small report takes a single write.
    private var pending: Data

    init(_ head: RecordHead, to file: any DurableFile, seal: (any ReportSeal)?) throws(OutboxError) {
        self.file = file
        self.seal = seal
        id = head.id
        let encoded = try Self.sealed(head.encoded, context: RecordForm.headContext, by: seal)
        guard encoded.count <= RecordForm.longestHead else {
            throw OutboxError(
                .request, "The request's address and headers have more than \(RecordForm.longestHead) bytes.")
        }
        var writer = ByteWriter(capacity: encoded.count + 2048)
        writer.append(seal == nil ? RecordForm.plainMark : RecordForm.sealedMark)
        writer.append(UInt32(encoded.count))
        writer.append(CRC32C.value(of: encoded))
        pending = writer.bytes
        pending.append(encoded)
    }

    mutating func append(_ bytes: Data) throws(OutboxError) {
        length += Int64(bytes.count)
        guard seal != nil else { return try appendStored(bytes) }
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.prefix(RecordForm.pieceLength)
            rest = rest.dropFirst(piece.count)
            let context = RecordForm.context(id, "\(pieces)")
            let sealed = try Self.sealed(Data(piece), context: context, by: seal)
            guard sealed.count <= RecordForm.longestSealedPiece else {
                throw OutboxError(.seal, "The seal makes a piece of \(piece.count) bytes into \(sealed.count).")
            }
            var writer = ByteWriter(capacity: 4)
            writer.append(UInt32(sealed.count))
            try appendStored(writer.bytes + sealed)
            pieces += 1
        }
    }

    /// Buffers bytes, and flushes the buffer first if it would become too large.
    private mutating func appendStored(_ bytes: Data) throws(OutboxError) {
        checksum.add(bytes)
        storedLength += UInt64(bytes.count)
        if pending.count + bytes.count > 2 * RecordForm.pieceLength { try flush() }
        pending.append(bytes)
    }

    /// Writes the tail and the buffer; `length` is the report's length if its bytes are in another file.
    mutating func finish(length: Int64? = nil) throws(OutboxError) {
        var writer = ByteWriter(capacity: RecordForm.tailLength)
        writer.append(storedLength)
        writer.append(UInt64(clamping: length ?? self.length))
        writer.append(checksum.value)
        writer.append(RecordForm.tailMark)
        pending.append(writer.bytes)
        try flush()
    }

    private mutating func flush() throws(OutboxError) {
        do throws(FileFailure) { try file.write(pending, at: written) } catch { throw OutboxError(error) }
        written += Int64(pending.count)
        pending = Data()
    }

    private static func sealed(_ bytes: Data, context: Data, by seal: (any ReportSeal)?) throws(OutboxError) -> Data {
        guard let seal else { return bytes }
        do {
            return try seal.seal(bytes, context: context)
        } catch {
            throw OutboxError(.seal, "The seal failed (\(type(of: error))); the report was not accepted.")
        }
    }
}

/// The constant part of a report without its bytes: the identifier and the request.
struct RecordHead: Sendable {
    let id: ReportID
    let method: HTTPMethod
    let scheme: String
    let host: String?
    let port: Int?
    let path: String
    let query: String?
    let headers: HTTPHeaders

    /// Takes the stored parts of a request: all except its body, options and fragment.
    init(_ id: ReportID, _ request: HTTPRequest, adding bodyHeaders: HTTPHeaders) {
        self.id = id
        method = request.method
        scheme = request.scheme
        host = request.host
        port = request.port
        path = request.path
        query = request.query
        var headers = request.headers
        headers.merge(filling: bodyHeaders)
        self.headers = headers
    }

    func request(body: any HTTPBody = EmptyBody()) -> HTTPRequest {
        var request = HTTPRequest(
            method: method, scheme: scheme, host: host, port: port, path: path, headers: headers, body: body)
        request.query = query
        // With an idempotency key, a request of any method may be repeated.
        request.headers["Idempotency-Key"] = id.idempotencyKey
        request.isRepeatable = true
        return request
    }

    /// A digest of scheme, host and port, by which lanes and pauses are kept apart.
    var destination: UInt32 {
        CRC32C.value(of: Data("\(scheme)://\(host?.lowercased() ?? ""):\(port ?? 0)".utf8))
    }
}

extension RecordHead {
    private static let version: UInt8 = 1

    var encoded: Data {
        var writer = ByteWriter()
        writer.append(Self.version)
        writer.append(id.rawValue)
        writer.append(method.rawValue)
        writer.append(scheme)
        writer.append(host)
        writer.append(Int64(port ?? -1))
        writer.append(path)
        writer.append(query)
        writer.append(headers)
        return writer.bytes
    }

    /// Decodes a head; nil if the bytes are invalid.
    init?(encoded: Data) {
        var reader = ByteReader(encoded)
        guard reader.number(UInt8.self) == Self.version, let id = reader.text().flatMap({ ReportID($0) }),
            let method = reader.text(), let scheme = reader.text(), let host = reader.optionalText(),
            let port = reader.number(Int64.self), let path = reader.text(), let query = reader.optionalText(),
            let headers = reader.headers(), reader.isAtEnd
        else { return nil }
        self.id = id
        self.method = HTTPMethod(method)
        self.scheme = scheme
        self.host = host
        self.port = port < 0 ? nil : Int(exactly: port)
        self.path = path
        self.query = query
        self.headers = headers
    }
}
