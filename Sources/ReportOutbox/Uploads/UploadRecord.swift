import LoaderChain
import LoaderChainPlatformFoundation

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

/// How an upload ended.
enum UploadEnd: Hashable, Sendable {
    /// The server answered.
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
    /// When it began, in milliseconds since 1970.
    let begun: Int64
    /// The server's answer, once there is one.
    var answer: UploadEnd?
}

extension UploadRecord {
    private static let version: UInt8 = 1

    /// The record as bytes, the last of which are a checksum.
    ///
    /// Headers that may hold secrets are left out: the answer of a server is not ours to write down whole.
    var encoded: Data {
        var writer = ByteWriter()
        writer.append(Self.version)
        writer.append(content.key)
        writer.append(content.digest)
        writer.append(begun)
        if case .answered(let status, let headers) = answer {
            writer.append(UInt8(1))
            writer.append(Int64(status.rawValue))
            writer.append(HTTPHeaders(headers.filter { !HTTPHeaders.isSecret($0.name) }))
        } else {
            writer.append(UInt8(0))
        }
        writer.append(Checksum.of(writer.bytes))
        return writer.bytes
    }

    /// The record of bytes, or nil if they are not a whole one.
    init?(encoded: Data) {
        guard encoded.count > 4 else { return nil }
        var tail = ByteReader(Data(encoded.suffix(4)))
        guard tail.number(UInt32.self) == Checksum.of(Data(encoded.dropLast(4))) else { return nil }
        var reader = ByteReader(Data(encoded.dropLast(4)))
        guard reader.number(UInt8.self) == Self.version, let key = reader.text(), let digest = reader.text(),
            let begun = reader.number(Int64.self), let isAnswered = reader.number(UInt8.self)
        else { return nil }
        content = Content(key: key, digest: digest)
        self.begun = begun
        if isAnswered == 1 {
            guard let status = reader.number(Int64.self), let headers = reader.headers() else { return nil }
            answer = .answered(HTTPStatus(Int(clamping: status)), headers)
        }
        guard reader.isAtEnd else { return nil }
    }
}
