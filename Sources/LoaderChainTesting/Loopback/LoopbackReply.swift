import LoaderChain
import LoaderChainPlatformFoundation

/// A response of a ``LoopbackServer``, and its faults.
///
/// Begin with a plain response, and add faults to it:
///
/// ```swift
/// let replies: [LoopbackReply] = [
///     .ok("hello"),
///     .ok("hello").delayed(.milliseconds(50)),
///     .json("{}").gzipped().dripping(1, every: .milliseconds(5)),
///     .ok("hello").hangingUp(at: .body(3)),  // announces five bytes, sends three
///     .unavailable(retryAfter: 2).aborting(at: .start),
/// ]
/// server.route("/flaky", replies: replies[0], replies[4])
/// ```
public struct LoopbackReply: Sendable, Hashable {
    /// The bytes after the head, or instead of the whole message.
    public enum Body: Sendable, Hashable {
        /// A body with a `Content-Length`.
        case bytes(Data)
        /// A chunked body, with one chunk for each element that is not empty, followed by trailers.
        case chunks([Data], trailers: HTTPHeaders)
        /// Bytes instead of the whole message; the server sends no head, and closes the connection after them.
        case verbatim(Data)
    }

    /// A position in the bytes of a reply.
    ///
    /// A position beyond the end of its part means that end.
    public enum Place: Sendable, Hashable {
        /// Before the first byte.
        case start
        /// After this many bytes of the head, which ends with the empty line.
        case head(Int)
        /// After this many bytes of the body as sent, with its encoding and the framing of chunks.
        case body(Int)
        /// After the last byte.
        case end
    }

    /// The status, which need not be a valid one.
    public var status: HTTPStatus
    /// The reason phrase; empty if the status has none.
    public var reason: String
    /// The header fields, sent unchanged.
    ///
    /// The server adds `Content-Length` or `Transfer-Encoding` if they are missing.
    public var headers: HTTPHeaders
    /// The body; it is left out in responses to `HEAD` and those with 1xx, 204 or 304.
    public var body: Body

    /// What happens at a position of the reply.
    enum Mark: Sendable, Hashable {
        case wait(Duration)
        case hold
        case hangUp
        case abort
    }

    /// How slowly the bytes are sent.
    struct Pace: Sendable, Hashable {
        let bytes: Int
        let interval: Duration
        let sparesHead: Bool
    }

    struct Interruption: Sendable, Hashable {
        let place: Place
        let mark: Mark
    }

    private(set) var interruptions: [Interruption] = []
    private(set) var pace: Pace?

    /// Makes a reply with a status, and its usual reason phrase unless you give another.
    public init(_ status: HTTPStatus, reason: String? = nil, headers: HTTPHeaders = [:], body: Body = .bytes(Data())) {
        self.status = status
        self.reason = reason ?? status.reasonPhrase
        self.headers = headers
        self.body = body
    }
}

extension LoopbackReply {
    /// The reply with a header field, which replaces those of the same name.
    public func header(_ name: String, _ value: String) -> Self {
        changed { $0.headers[name] = value }
    }

    /// The reply with a wait at a position, by default before its first byte.
    public func delayed(_ duration: Duration, at place: Place = .start) -> Self {
        interrupted(.wait(duration), at: place)
    }

    /// The reply held at a position until the test releases it; see ``LoopbackServer/waitForHeld(count:)``.
    public func held(at place: Place = .start) -> Self { interrupted(.hold, at: place) }

    /// The reply cut off at a position by closing the connection.
    public func hangingUp(at place: Place) -> Self { interrupted(.hangUp, at: place) }

    /// The reply cut off at a position by resetting the connection.
    public func aborting(at place: Place) -> Self { interrupted(.abort, at: place) }

    /// The reply sent in portions of a few bytes, with a pause between them.
    public func dripping(_ bytes: Int, every interval: Duration) -> Self {
        changed { $0.pace = Pace(bytes: max(1, bytes), interval: interval, sparesHead: false) }
    }

    /// The reply with its head sent at once, and its body in portions of a few bytes.
    public func drippingBody(_ bytes: Int, every interval: Duration) -> Self {
        changed { $0.pace = Pace(bytes: max(1, bytes), interval: interval, sparesHead: true) }
    }

    /// The reply with `Connection: close`, after which the server closes the connection.
    public func closing() -> Self { header("Connection", "close") }

    /// The reply with its body in chunks of a size; the last one may be shorter.
    public func chunked(by size: Int, trailers: HTTPHeaders = [:]) -> Self {
        let bytes = content
        let size = size.clamped(to: 1...max(1, bytes.count))
        let pieces = stride(from: 0, to: bytes.count, by: size).map { Data(bytes.dropFirst($0).prefix(size)) }
        return changed { $0.body = .chunks(pieces, trailers: trailers) }
    }

    /// The reply with its body as a gzip stream, and `Content-Encoding: gzip`.
    public func gzipped() -> Self {
        let stream = StoredGzip.stream(of: content)
        let coded = changed { reply in
            switch reply.body {
            case .bytes, .verbatim: reply.body = .bytes(stream)
            case .chunks(_, let trailers): reply.body = .chunks([stream], trailers: trailers)
            }
        }
        return coded.header("Content-Encoding", "gzip")
    }

    /// The bytes of the body without any framing.
    private var content: Data {
        switch body {
        case .bytes(let bytes), .verbatim(let bytes): bytes
        case .chunks(let pieces, _): pieces.reduce(into: Data()) { $0.append($1) }
        }
    }

    private func interrupted(_ mark: Mark, at place: Place) -> Self {
        changed { $0.interruptions.append(Interruption(place: place, mark: mark)) }
    }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}
