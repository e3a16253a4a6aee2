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

    /// An event at a position of the reply.
    enum Mark: Sendable, Hashable {
        case wait(Duration)
        case hold
        case hangUp
        case abort
    }

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

// MARK: - Changes and faults

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

    /// The reply sent in portions of a few bytes, with a pause between them; the head at once, if `sparesHead` is true.
    public func dripping(_ bytes: Int, every interval: Duration, sparesHead: Bool = false) -> Self {
        changed { $0.pace = Pace(bytes: max(1, bytes), interval: interval, sparesHead: sparesHead) }
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

// MARK: - Usual replies

extension LoopbackReply {
    /// A 200 with a text.
    public static func ok(_ text: String = "") -> Self { .text(text, status: .ok) }

    /// A 200 with a body.
    public static func ok(_ body: Data) -> Self { Self(.ok, body: .bytes(body)) }

    /// A 200 with a JSON text.
    public static func json(_ text: String) -> Self {
        Self(.ok, headers: ["Content-Type": "application/json"], body: .bytes(Data(text.utf8)))
    }

    /// A text with a status.
    public static func text(_ text: String, status: HTTPStatus) -> Self {
        Self(status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Data(text.utf8)))
    }

    /// A status and no body.
    public static func status(_ status: HTTPStatus, reason: String? = nil) -> Self {
        Self(status, reason: reason)
    }

    /// A 200 with one chunk per text, followed by trailers.
    public static func chunks(_ texts: [String], trailers: HTTPHeaders = [:]) -> Self {
        Self(
            .ok, headers: ["Content-Type": "text/plain; charset=utf-8"],
            body: .chunks(texts.map { Data($0.utf8) }, trailers: trailers))
    }

    /// A 200 whose body is the body of the request.
    public static func echo(_ request: LoopbackRequest) -> Self {
        let type = request.headers["Content-Type"] ?? "application/octet-stream"
        return Self(.ok, headers: ["Content-Type": type], body: .bytes(request.body))
    }

    /// A redirect to a path or to an absolute address, sent unchanged.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> Self {
        Self(status, headers: ["Location": location])
    }

    /// A 401 with a challenge, sent unchanged.
    public static func unauthorized(challenge: String) -> Self {
        Self(.unauthorized, headers: ["WWW-Authenticate": challenge])
    }

    /// A 429 with `Retry-After` in seconds.
    public static func tooManyRequests(retryAfter seconds: Int) -> Self {
        Self(.tooManyRequests, headers: ["Retry-After": String(seconds)])
    }

    /// A 503, with `Retry-After` in seconds if you give them.
    public static func unavailable(retryAfter seconds: Int? = nil) -> Self {
        Self(.serviceUnavailable, headers: seconds.map { ["Retry-After": String($0)] } ?? [:])
    }

    /// Bytes instead of a reply, after which the server closes the connection.
    public static func verbatim(_ bytes: Data) -> Self { Self(.ok, body: .verbatim(bytes)) }

    /// A text instead of a reply, after which the server closes the connection.
    public static func verbatim(_ text: String) -> Self { verbatim(Data(text.utf8)) }

    /// No reply: the server closes the connection without sending a byte.
    public static func hangUp() -> Self { Self(.ok).hangingUp(at: .start) }

    /// No reply: the server resets the connection.
    public static func abort() -> Self { Self(.ok).aborting(at: .start) }
}

// MARK: - Gzip

/// Gzip streams with stored blocks, which every decoder reads and no compressor is needed for.
package enum StoredGzip {
    /// The longest block that a two-byte length can describe.
    private static let longestBlock = 65_535

    /// A gzip stream with one member that decodes to `bytes`.
    package static func stream(of bytes: Data) -> Data {
        // Magic, deflate, no flags, no time, no hint, and an unknown system.
        var stream = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(longestBlock)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            stream.append(littleEndian: length)
            stream.append(littleEndian: ~length)
            stream.append(block)
        } while !rest.isEmpty
        stream.append(littleEndian: checksum(of: bytes))
        stream.append(littleEndian: UInt32(truncatingIfNeeded: bytes.count))
        return stream
    }

    /// The CRC-32 that gzip uses.
    package static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { remainder, _ in
            remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0xEDB8_8320
        }
    }
}

extension Data {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
