import LoaderChain
import LoaderChainPlatformFoundation

/// A body that is compressed by gzip on its way.
///
/// ```swift
/// let request = HTTPRequest(method: .post, url: url, body: GzipBody(JSONBody(newUser)))
/// ```
///
/// The request gets `Content-Encoding: gzip`. HTTP has no way to ask a server first whether it reads that, so use it where you know.
///
/// A body of up to a megabyte is compressed at once, and sent with its length. A longer one, or one of unknown length, is read and
/// compressed piece by piece while it is sent, however long it is, and its length is not announced.
///
/// Do not compress secrets together with text that others choose: the length tells them how much the two are alike.
public struct GzipBody: HTTPBody {
    /// The body that is compressed.
    public let body: any HTTPBody

    /// How much time is spent on getting it small, from 1 to 9.
    public let level: Int

    /// What is compressed at once.
    private static let largestAtOnce = 1 << 20

    /// Makes a compressed body.
    ///
    /// - Parameters:
    ///   - body: the bytes. One that is encoded already, as by another of these, is sent as it is.
    ///   - level: how much time is spent, from 1 for the quickest to 9 for the smallest.
    public init(_ body: any HTTPBody, level: Int = 6) {
        self.body = body
        self.level = min(max(1, level), 9)
    }

    /// Whether there are no bytes; nothing is not compressed.
    public var isEmpty: Bool { body.isEmpty }

    /// The headers of the body, and how it is encoded.
    public var additionalHeaders: HTTPHeaders {
        var headers = body.additionalHeaders
        guard compresses else { return headers }
        // They are about the bytes that are not sent.
        for name in ["Content-MD5", "Content-Digest", "Digest", "Content-Length"] { headers.remove(name) }
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
        if let length = content.length, length <= Int64(Self.largestAtOnce) {
            guard let bytes = encoder.compressed(try content.data(upTo: Self.largestAtOnce)) else { throw Self.failure }
            return .data(bytes)
        }
        guard encoder.begin() else { throw Self.failure }
        let pieces = GzipPieces(encoder, content.makeReader())
        return HTTPBodyContent(segments: [.stream(HTTPBodyStream { try pieces.next() })])
    }

    private var compresses: Bool { !body.isEmpty && !body.additionalHeaders.contains("Content-Encoding") }

    fileprivate static let failure = HTTPBodyError(
        "The body could not be compressed: there is no zlib, or it has no memory.")
}

/// The compressed bytes of a body, one piece after the other.
private final class GzipPieces: Sendable {
    private struct State {
        let encoder: GzipEncoder
        var reader: HTTPBodyReader
        var isAtEnd = false
    }

    /// For the compiler: a stream has one reader, which asks for one piece after the other.
    private let state: Locked<State?>

    private static let largestPiece = 256 << 10

    init(_ encoder: GzipEncoder, _ reader: HTTPBodyReader) {
        state = Locked(State(encoder: encoder, reader: reader))
    }

    /// The next piece, which may be empty; nil at the end.
    func next() throws -> Data? {
        // The body's bytes may be made by the app, so none is read under the lock.
        guard var state = state.withLock({ replace(&$0, with: nil) }), !state.isAtEnd else { return nil }
        let piece = try state.reader.read(upTo: Self.largestPiece)
        state.isAtEnd = piece == nil
        guard let bytes = state.encoder.add(piece ?? Data(), isLast: piece == nil) else { throw GzipBody.failure }
        self.state.withLock { [state] in $0 = state }
        return bytes
    }
}
