import LoaderChain
import LoaderChainPlatformFoundation

/// A body that is compressed with gzip.
///
/// ```swift
/// let request = HTTPRequest(method: .post, url: url, body: GzipBody(JSONBody(newUser)))
/// ```
///
/// The request gets `Content-Encoding: gzip`. HTTP has no way to ask a server first whether it supports that, so use it only with
/// servers that do.
///
/// A body of up to a megabyte is compressed at once, and sent with its length. A longer body, and a stream, are read and compressed
/// piece by piece while they are sent, so their length is not announced.
///
/// Do not compress secrets together with text that others choose: the compressed length reveals how similar the two are.
public struct GzipBody: HTTPBody {
    let body: any HTTPBody
    let level: Int

    /// The size up to which a body is compressed at once.
    private static let largestAtOnce = 1 << 20

    /// Creates a compressed body.
    ///
    /// - Parameters:
    ///   - body: the body to compress. A body with a `Content-Encoding`, such as another `GzipBody`, is sent unchanged.
    ///   - level: the compression level, from 1 for the fastest to 9 for the smallest result.
    public init(_ body: any HTTPBody, level: Int = 6) {
        self.body = body
        self.level = min(max(1, level), 9)
    }

    /// Whether the body is empty; an empty body is not compressed.
    public var isEmpty: Bool { body.isEmpty }

    /// The headers of the body, with its `Content-Encoding`.
    public var additionalHeaders: HTTPHeaders {
        var headers = body.additionalHeaders
        guard compresses else { return headers }
        // These describe the uncompressed bytes, which are not sent.
        for name in HTTPHeaders.namesAboutBytes + ["Content-Length"] { headers.remove(name) }
        headers["Content-Encoding"] = "gzip"
        return headers
    }

    /// Whether the body can be sent again.
    public var canBeSentAgain: Bool { body.canBeSentAgain }

    /// The compressed bytes.
    public func encode() throws -> HTTPBodyContent {
        let content = try body.encode()
        guard compresses else { return content }
        guard let encoder = GzipEncoder(level: Int32(level)) else { throw Self.failure }
        // A stream makes its bytes on the thread that sends them.
        let isStream = content.segments.contains { if case .stream = $0 { true } else { false } }
        if !isStream, let length = content.length, length <= Int64(Self.largestAtOnce) {
            guard let bytes = encoder.compressed(try content.data(upTo: Self.largestAtOnce)) else { throw Self.failure }
            return .data(bytes)
        }
        guard encoder.begin() else { throw Self.failure }
        let pieces = GzipPieces(encoder, content.makeReader())
        return HTTPBodyContent(segments: [.stream(HTTPBodyStream { try pieces.next() })])
    }

    private var compresses: Bool { !body.isEmpty && !body.additionalHeaders.contains("Content-Encoding") }

    fileprivate static let failure = HTTPBodyError(
        "The body could not be compressed: zlib is not available, or out of memory.")
}

/// The compressed bytes of a body, piece by piece.
private final class GzipPieces: Sendable {
    private struct State {
        let encoder: GzipEncoder
        var reader: HTTPBodyReader
        var isAtEnd = false
    }

    /// Locked only for the compiler: a stream has a single reader, which requests one piece after the other.
    private let state: Locked<State?>

    private static let largestPiece = 256 << 10

    init(_ encoder: GzipEncoder, _ reader: HTTPBodyReader) {
        state = Locked(State(encoder: encoder, reader: reader))
    }

    /// The next piece, which may be empty; nil at the end.
    func next() throws -> Data? {
        // Reading may call the app's code, so it does not happen under the lock.
        guard var state = state.withLock({ replace(&$0, with: nil) }), !state.isAtEnd else { return nil }
        let piece = try state.reader.read(upTo: Self.largestPiece)
        state.isAtEnd = piece == nil
        guard let bytes = state.encoder.add(piece ?? Data(), isLast: piece == nil) else { throw GzipBody.failure }
        self.state.withLock { [state] in $0 = state }
        return bytes
    }
}
