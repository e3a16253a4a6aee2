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
/// ``HTTPError``, and so does a line that is longer than the limit: ``HTTPError/Code/responseTooLarge``.
public struct ResponseLines: AsyncSequence, Sendable {
    /// A line without its end.
    public typealias Element = String

    let response: HTTPResponse
    let limit: Int

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
        public mutating func next() async throws -> String? { try await next(isolation: nil) }

        /// The next line, or nil at the end, and after an error.
        ///
        /// A loop calls this. An actor that reads, such as the main actor, is only left where bytes have to be waited for.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            try await nextBytes(isolation: actor).map { String(decoding: $0, as: UTF8.self) }
        }

        /// The bytes of the next line.
        mutating func nextBytes(isolation actor: isolated (any Actor)?) async throws -> ArraySlice<UInt8>? {
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

    /// The response without its chunks, for an error: an error that is kept must not keep the transfer alive.
    var head: HTTPResponse {
        var head = self
        head.chunks = nil
        return head
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
