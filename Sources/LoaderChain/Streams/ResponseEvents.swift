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

    let response: HTTPResponse
    let limit: Int

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
        public mutating func next() async throws -> ServerSentEvent? { try await next(isolation: nil) }

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

    /// Why the body is no stream of events; nil if it is one.
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
