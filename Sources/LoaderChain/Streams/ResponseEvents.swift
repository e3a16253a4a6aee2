import LoaderChainPlatformFoundation

/// The events of one response, one by one as they arrive.
///
/// ```swift
/// var request = HTTPRequest(method: .post, url: url)
/// request.delivery = .chunks
/// for try await event in try await chain.load(request).serverSentEvents() { print(event.type, event.data) }
/// ```
///
/// This is for a response that ends, such as an answer that a server writes while it thinks. ``EventStream`` is for a stream that
/// never does: it connects again, and goes on with the event that comes next.
///
/// A response that failed, or that has another type than `text/event-stream`, throws an ``HTTPError/Code/invalidResponse``. Read the
/// events with one iterator, because an iterator holds the beginning of the next event.
public struct ResponseEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    fileprivate let response: HTTPResponse
    fileprivate let limit: Int

    /// Makes an iterator, which begins where the last piece of the body ended that was read.
    public func makeAsyncIterator() -> Iterator { Iterator(response: response, limit: limit) }

    /// The iterator.
    public struct Iterator: AsyncIteratorProtocol {
        private let response: HTTPResponse
        private var pieces: ResponsePieces
        private var parser: EventParser
        private var isAtEnd = false

        fileprivate init(response: HTTPResponse, limit: Int) {
            self.response = response
            pieces = ResponsePieces(response)
            parser = EventParser(limit: limit)
        }

        /// The next event, or nil at the end, and after an error.
        ///
        /// A loop calls this. An actor that reads, such as the main actor, is only left where bytes have to be waited for.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            guard !isAtEnd else { return nil }
            do {
                if let error = response.eventsProblem(isAccepted: response.status.isSuccess) { throw error }
                while true {
                    if let event = try parser.next() { return event }
                    guard let piece = try await pieces.next() else { break }
                    parser.append(piece)
                }
                isAtEnd = true
                return nil
            } catch {
                isAtEnd = true
                throw response.streamError(error)
            }
        }
    }
}

extension HTTPResponse {
    /// The events of the body, whose lines and data have at most `limit` bytes each; sixteen megabytes by default.
    public func serverSentEvents(upTo limit: Int = 16 << 20) -> ResponseEvents {
        ResponseEvents(response: self, limit: Swift.max(0, limit))
    }

    /// The reason why the body is not a stream of events; nil if it is.
    func eventsProblem(isAccepted: Bool) -> HTTPError? {
        let reason: String
        if !isAccepted {
            reason = "A stream of events should have the status 200"
        } else if let mediaType, ASCII.isEqualIgnoringCase(mediaType, "text/event-stream") {
            return nil
        } else {
            let found = mediaType.map { "\(ASCII.printable($0))" } ?? "missing"
            reason = "The content type of a stream of events should be text/event-stream, and is \(found)"
        }
        return HTTPError(.invalidResponse, request: request, response: head, reason: reason)
    }
}

/// An event of a server's stream of events.
public struct ServerSentEvent: Hashable, Sendable {
    /// The type; `message` if the server named none.
    public var type: String

    /// The data: one line, or several with a line feed between them.
    public var data: String

    /// The last identifier that the server had sent by then; empty if none.
    ///
    /// The identifier stays the same for events that follow without an identifier of their own.
    public var id: String

    /// Makes an event, as a test does.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

extension ServerSentEvent: CustomStringConvertible {
    /// The type, the identifier and the size of the data, which may be private.
    public var description: String {
        let size = "\(ASCII.printable(type)), \(data.utf8.count) bytes"
        return id.isEmpty ? size : "\(size), id \(ASCII.printable(id))"
    }
}

/// Reads events from the bytes of a stream, by the rules of the HTML standard.
///
/// An event is returned when the empty line after it has arrived, even if that line ends with a carriage return and the line
/// feed to it has not come yet. An event that the stream ends in the middle of is dropped.
struct EventParser: Sendable {
    /// The identifier of the last event, which a request to go on from there names.
    private(set) var lastID: String

    /// How long the server wants clients to wait before they connect again, if it has said so.
    private(set) var reconnectionTime: Duration?

    private let limit: Int
    private var lines: LineBuffer
    private var isAtFirstLine = true

    // The event that is being read. Its data has a line feed after each line.
    private var data: [UInt8] = []
    private var type = ""
    private var id: String

    /// Makes a parser for a new stream, whose events have `lastID` until it names another.
    ///
    /// At most `limit` bytes may be in a line, and in the data of an event.
    init(lastID: String = "", limit: Int) {
        self.lastID = lastID
        self.limit = limit
        id = lastID
        lines = LineBuffer(ends: .lineFeedOrCarriageReturn, limit: limit)
    }

    mutating func append(_ piece: Data) { lines.append(piece) }

    /// Returns the next event, or nil if more bytes are needed.
    mutating func next() throws(LineBuffer.LineTooLong) -> ServerSentEvent? {
        while var line = try lines.next() {
            if isAtFirstLine {
                isAtFirstLine = false
                if line.starts(with: Self.byteOrderMark) { line = line.dropFirst(Self.byteOrderMark.count) }
            }
            if !line.isEmpty {
                try takeField(line)
            } else if let event = dispatch() {
                return event
            }
        }
        return nil
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// In milliseconds.
    private static let longestTime: Int64 = 1 << 40

    private mutating func takeField(_ line: ArraySlice<UInt8>) throws(LineBuffer.LineTooLong) {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == ASCII.space { value = value.dropFirst() }
        // A name of no bytes is that of a comment.
        let name = line[..<colon]
        if name.elementsEqual("data".utf8) {
            guard value.count < limit - data.count || data.isEmpty else { throw LineBuffer.LineTooLong(limit: limit) }
            data.append(contentsOf: value)
            data.append(ASCII.lineFeed)
        } else if name.elementsEqual("event".utf8) {
            type = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual("id".utf8) {
            if !value.contains(ASCII.nul) { id = String(decoding: value, as: UTF8.self) }
        } else if name.elementsEqual("retry".utf8) {
            // Digits alone; a time that is longer than any stream lives is shortened.
            if let time = ASCII.number(value, most: Self.longestTime) { reconnectionTime = .milliseconds(time) }
        }
    }

    /// Ends the event; nil if it has no data.
    private mutating func dispatch() -> ServerSentEvent? {
        lastID = id
        defer { type = "" }
        guard !data.isEmpty else { return nil }
        let text = String(decoding: data.dropLast(), as: UTF8.self)
        // A large event does not leave its memory behind.
        data.removeAll(keepingCapacity: data.capacity <= 1 << 20)
        return ServerSentEvent(type: type.isEmpty ? "message" : type, data: text, id: id)
    }
}
