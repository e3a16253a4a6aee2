// Streams: bodies that are read while they arrive: lines, values, and a server's events; lists that a server delivers page by page;
// and a resource that is asked for again and again. It stands on Message, Time and Loader, and no loader uses it.

import LoaderChainPlatformFoundation

/// The lines of a body, one by one as they arrive.
///
/// ```swift
/// var request = HTTPRequest(url: url)
/// request.delivery = .chunks
/// for try await line in try await chain.load(request).lines() { print(line) }
/// ```
///
/// A line feed ends a line, and nothing else does. One carriage return before it is removed. Empty lines are lines, and what follows
/// the last line feed is one too. A line is decoded whole: bytes that are not UTF-8 become U+FFFD.
///
/// Read the lines with one iterator, because an iterator holds the beginning of the next line. A transfer that fails throws an
/// ``HTTPError``. A line that is longer than the limit throws ``HTTPError/Code/responseTooLarge``.
public struct ResponseLines: AsyncSequence, Sendable {
    /// A line without its end.
    public typealias Element = String

    fileprivate let response: HTTPResponse
    fileprivate let limit: Int

    /// Makes an iterator, which begins where the last piece of the body ended that was read.
    public func makeAsyncIterator() -> Iterator { Iterator(response: response, limit: limit) }

    /// The iterator.
    public struct Iterator: AsyncIteratorProtocol {
        private let response: HTTPResponse
        private var pieces: ResponsePieces
        private var lines: LineBuffer
        private var isAtEnd = false

        fileprivate init(response: HTTPResponse, limit: Int) {
            self.response = response
            pieces = ResponsePieces(response)
            lines = LineBuffer(ends: .lineFeed, limit: limit)
        }

        /// The next line, or nil at the end, and after an error.
        ///
        /// A loop calls this. An actor that reads, such as the main actor, is left only to wait for bytes.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            try await nextBytes(isolation: actor).map { String(decoding: $0, as: UTF8.self) }
        }

        fileprivate mutating func nextBytes(isolation actor: isolated (any Actor)?) async throws -> ArraySlice<UInt8>? {
            guard !isAtEnd else { return nil }
            do {
                while true {
                    if let line = try lines.next() { return line }
                    guard let piece = try await pieces.next() else {
                        isAtEnd = true
                        return try lines.last()
                    }
                    lines.append(piece)
                }
            } catch {
                isAtEnd = true
                throw response.streamError(error)
            }
        }
    }
}

extension HTTPResponse {
    /// The lines of the body, each of at most `limit` bytes; a megabyte by default.
    ///
    /// Request ``HTTPRequest/delivery`` in chunks to get them while they arrive.
    public func lines(upTo limit: Int = 1 << 20) -> ResponseLines {
        ResponseLines(response: self, limit: Swift.max(0, limit))
    }

    /// The error of a stream, where its reader meets it.
    func streamError(_ error: any Error) -> any Error {
        guard let tooLong = error as? LineBuffer.LineTooLong else { return error }
        return HTTPError(
            .responseTooLarge, request: request, response: head,
            reason:
                "A line of the body, or the data of an event, has more bytes than the limit of \(tooLong.limit); raise it."
        )
    }
}

/// The values of a body that has one JSON value on each line, as they arrive.
///
/// The format is known as NDJSON and as JSON Lines.
///
/// ```swift
/// nonisolated struct Tick: Decodable, Sendable { var price: Double }
///
/// var request = HTTPRequest(url: url)
/// request.delivery = .chunks
/// for try await tick in try await chain.load(request).values(as: Tick.self) { print(tick.price) }
/// ```
///
/// Blank lines are skipped. A line that cannot be decoded throws an ``HTTPError/Code/cannotDecodeResponse`` with its number;
/// the iterator can continue with the values that follow.
public struct ResponseValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// A value of a line.
    public typealias Element = Value

    fileprivate let lines: ResponseLines
    fileprivate let decoder: JSONDecoder

    /// Makes an iterator, which begins where the last piece of the body ended that was read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(response: lines.response, lines: lines.makeAsyncIterator(), decoder: decoder)
    }

    /// The iterator.
    public struct Iterator: AsyncIteratorProtocol {
        private let response: HTTPResponse
        private var lines: ResponseLines.Iterator
        private let decoder: JSONDecoder
        private var number = 0

        fileprivate init(response: HTTPResponse, lines: ResponseLines.Iterator, decoder: JSONDecoder) {
            self.response = response
            self.lines = lines
            self.decoder = decoder
        }

        /// The next value, or nil at the end.
        ///
        /// A loop calls this. An actor that reads, such as the main actor, is left only to wait for bytes.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            while let line = try await lines.nextBytes(isolation: actor) {
                number += 1
                if line.allSatisfy(ASCII.isBlank) { continue }
                do {
                    return try decoder.decode(Value.self, from: Data(line))
                } catch {
                    throw HTTPError.undecodable(
                        "Line \(number) of the body, of \(line.count) bytes,", as: Value.self, of: response.head, error)
                }
            }
            return nil
        }
    }
}

extension HTTPResponse {
    /// The values of a body with one JSON value on each line of at most `limit` bytes; a megabyte by default.
    public func values<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder(), upTo limit: Int = 1 << 20
    ) -> ResponseValues<Value> {
        ResponseValues(lines: lines(upTo: limit), decoder: decoder)
    }
}

/// Bytes that arrive in pieces, cut into lines.
///
/// A line is returned as soon as its end is there, and each byte is looked at once, however small the pieces are.
struct LineBuffer: Sendable {
    enum Ends {
        /// A line feed; one carriage return before it is not part of the line.
        case lineFeed
        /// A line feed, a carriage return, or both in this order, as in a stream of events.
        case lineFeedOrCarriageReturn
    }

    struct LineTooLong: Error, Hashable {
        let limit: Int
    }

    private let ends: Ends
    private let limit: Int

    private var bytes: [UInt8] = []
    /// The beginning of the first line that has not been returned.
    private var start = 0
    /// Up to here, that line has no end.
    private var scanned = 0
    /// Whether a line feed that comes next belongs to the carriage return before it.
    private var skipsLineFeed = false

    init(ends: Ends, limit: Int) {
        self.ends = ends
        self.limit = limit
    }

    mutating func append(_ piece: Data) {
        if start == bytes.count {
            // A long line does not leave its memory behind.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
            (start, scanned) = (0, 0)
        } else if start > 0 {
            // What is left is less than a line, and is not moved again before the line is returned.
            bytes.removeSubrange(..<start)
            scanned -= start
            start = 0
        }
        bytes.append(contentsOf: piece)
    }

    /// Returns the next whole line without its end, or nil if more bytes are needed.
    mutating func next() throws(LineTooLong) -> ArraySlice<UInt8>? {
        if skipsLineFeed, scanned < bytes.count {
            skipsLineFeed = false
            if bytes[scanned] == ASCII.lineFeed {
                scanned += 1
                start = scanned
            }
        }
        guard let end = nextEnd() else {
            scanned = bytes.count
            // One byte more may be a carriage return that is not part of the line.
            guard bytes.count - start - 1 <= limit else { throw LineTooLong(limit: limit) }
            return nil
        }
        skipsLineFeed = bytes[end] == ASCII.carriageReturn
        return try line(to: end, nextStart: end + 1)
    }

    /// Returns what follows the last end of a line; nil if nothing does.
    mutating func last() throws(LineTooLong) -> ArraySlice<UInt8>? {
        start == bytes.count ? nil : try line(to: bytes.count, nextStart: bytes.count)
    }

    /// The end of the line, looking only at bytes that are new.
    private func nextEnd() -> Int? {
        switch ends {
        case .lineFeed: bytes[scanned...].firstIndex(of: ASCII.lineFeed)
        case .lineFeedOrCarriageReturn:
            bytes[scanned...].firstIndex { $0 == ASCII.lineFeed || $0 == ASCII.carriageReturn }
        }
    }

    private mutating func line(to end: Int, nextStart: Int) throws(LineTooLong) -> ArraySlice<UInt8> {
        var line = bytes[start..<end]
        if ends == .lineFeed, line.last == ASCII.carriageReturn { line = line.dropLast() }
        start = nextStart
        scanned = nextStart
        guard line.count <= limit else { throw LineTooLong(limit: limit) }
        return line
    }
}

/// The body of a response in pieces, however it was delivered.
struct ResponsePieces: Sendable {
    private enum Source {
        case chunks(ResponseChunks.Iterator)
        case stored(HTTPBodyReader)
        case unreadable(HTTPBodyError)
    }

    private static let size = 64 * 1024

    private var source: Source

    init(_ response: HTTPResponse) {
        if let chunks = response.chunks {
            source = .chunks(chunks.makeAsyncIterator())
        } else {
            do throws(HTTPBodyError) {
                let content = try response.file.map(HTTPBodyContent.file) ?? .data(response.body)
                source = .stored(content.makeReader())
            } catch {
                source = .unreadable(error)
            }
        }
    }

    mutating func next() async throws -> Data? {
        switch source {
        case .chunks(var chunks):
            return try await chunks.next()
        case .stored(var reader):
            let piece = try reader.read(upTo: Self.size)
            source = .stored(reader)
            return piece
        case .unreadable(let error):
            throw error
        }
    }
}
