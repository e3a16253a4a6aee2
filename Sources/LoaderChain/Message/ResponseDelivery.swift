import LoaderChainPlatformFoundation

/// How the body of a response is delivered.
///
/// Terminals that transfer over a network honour it. Other loaders that respond, such as ``MockLoader``, always deliver in memory;
/// ``HTTPResponse/lines(upTo:)`` and ``HTTPResponse/serverSentEvents(upTo:)`` read a body however it was delivered.
public enum ResponseDelivery: HTTPRequestOption, Hashable {
    /// In memory, up to the terminal's limit.
    public static var defaultOptionValue: ResponseDelivery { .inMemory }

    /// In memory, as `HTTPResponse.body`, up to the terminal's limit.
    public static var inMemory: ResponseDelivery { .inMemory(upTo: nil) }

    /// In memory, as `HTTPResponse.body`, up to a number of bytes; nil for the terminal's limit.
    ///
    /// A larger body fails with `HTTPError.Code.responseTooLarge`: at once if the server announces its size, otherwise
    /// with the first byte beyond the limit.
    case inMemory(upTo: Int?)

    /// As it arrives, as `HTTPResponse.chunks`, of any size.
    ///
    /// The task completes when the head has arrived, so the chain's retries and limits do not cover the body. A reset
    /// still ends it, and so does ``HTTPTask/cancel()``. However slow the reader is, at most a megabyte of the body is in
    /// memory; the rest waits in a temporary file.
    case chunks

    /// In a file, named by `HTTPResponse.file`, which appears only once it is complete.
    ///
    /// An existing file is replaced. Only the body of a successful response goes there; any other explains an error, and
    /// is delivered in memory. If something fails, nothing is left behind.
    case file(URL)

    /// Only what is delivered in memory: two attempts would write to one file, and chunks have one reader.
    public static func allowsTwoAttempts(with value: ResponseDelivery) -> Bool {
        if case .inMemory = value { true } else { false }
    }
}

extension HTTPRequest {
    /// How the body of the response is delivered; in memory by default.
    ///
    /// ```swift
    /// var request = HTTPRequest(url: url)
    /// request.delivery = .file(URL(filePath: "/tmp/film.mp4"))
    /// let file = try await chain.load(request).file
    /// ```
    ///
    /// A ``Hedge`` does not send a request twice whose body goes to a file or is delivered in chunks, unless its
    /// ``hedging`` is ``HedgingOption/allowed``.
    public var delivery: ResponseDelivery {
        get { self[option: ResponseDelivery.self] }
        set { self[option: ResponseDelivery.self] = newValue }
    }
}

/// The body of a response, piece by piece as it arrives.
///
/// ```swift
/// guard let chunks = try await chain.load(request).chunks else { return }
/// for try await chunk in chunks { print(chunk.count) }
/// ```
///
/// There is one position: each chunk is returned once. Read the chunks with one task. When the last copy of the
/// response is released, unread chunks are released too, and the transfer ends. An ``HTTPTask`` that you keep has a copy.
///
/// A transfer that fails throws an ``HTTPError``. Cancelling the Swift task that reads ends the transfer, and throws a
/// `CancellationError`. Cancelling the ``HTTPTask`` ends it too, and throws an ``HTTPError/Code/cancelled``.
public struct ResponseChunks: AsyncSequence, Sendable {
    /// A piece of the body, never empty.
    public typealias Element = Data

    private let source: Source

    /// Makes a sequence, as a terminal or a test does.
    ///
    /// - Parameters:
    ///   - next: returns the next chunk, or nil at the end. It is called again only after it has returned.
    ///   - trailers: returns the fields that followed the body; none before its end.
    ///   - onDrop: called once, when the last copy of the sequence is released, or its ``HTTPTask`` is cancelled before
    ///     the end was read. A call of `next` that waits then should end; without this closure, a cancel is noticed after it.
    public init(
        next: @escaping @Sendable () async throws -> Data?,
        trailers: @escaping @Sendable () -> HTTPHeaders = { [:] }, onDrop: @escaping @Sendable () -> Void = {}
    ) {
        source = Source(next: next, trailers: trailers, onDrop: onDrop)
    }

    /// The fields that the server sent after the body; empty before the last chunk was read, and if there were none.
    ///
    /// ```swift
    /// guard let chunks = try await chain.load(request).chunks else { return }
    /// for try await chunk in chunks { print(chunk.count) }
    /// print(chunks.trailers["X-Checksum"] ?? "no checksum")
    /// ```
    public var trailers: HTTPHeaders { source.trailers() }

    /// Makes an iterator at the shared position.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// The iterator.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let source: Source

        /// The next chunk, or nil at the end.
        public mutating func next() async throws -> Data? { try await source.next() }
    }

    fileprivate final class Source: Sendable {
        private struct State {
            var next: @Sendable () async throws -> Data?
            var isAtEnd = false
            /// Why the body ends before its end.
            var error: HTTPError?
        }

        private let state: Locked<State>
        let trailers: @Sendable () -> HTTPHeaders
        private let onDrop: @Sendable () -> Void

        init(
            next: @escaping @Sendable () async throws -> Data?, trailers: @escaping @Sendable () -> HTTPHeaders,
            onDrop: @escaping @Sendable () -> Void
        ) {
            state = Locked(State(next: next))
            self.trailers = trailers
            self.onDrop = onDrop
        }

        deinit {
            if state.withLock({ $0.error == nil }) { onDrop() }
        }

        func next() async throws -> Data? {
            let present = state.withLock { $0 }
            do {
                let chunk = try await present.next()
                let error = state.withLock { state -> HTTPError? in
                    if chunk == nil, state.error == nil { state.isAtEnd = true }
                    return state.error
                }
                if let error { throw error }
                return chunk
            } catch {
                // A read that was ended by a cancel has an error of its own.
                if let cancel = state.withLock({ $0.error }) { throw cancel }
                throw error
            }
        }

        func end(with error: HTTPError) {
            let ended = state.withLock { state -> State? in
                guard !state.isAtEnd, state.error == nil else { return nil }
                // Without the closure, whose transfer may end with its last reference.
                return replace(&state, with: State(next: { nil }, error: error))
            }
            if ended != nil { onDrop() }
        }
    }
}

extension ResponseChunks {
    /// Ends the body with an error, unless its end was read.
    func end(with error: HTTPError) { source.end(with: error) }
}

extension ResponseChunks {
    /// The rest of the body in one piece, unless it has more bytes than `limit`.
    ///
    /// - Throws: ``HTTPBodyError`` for a body that is larger, and any error of the transfer.
    public func collect(upTo limit: Int) async throws -> Data {
        var collected = Data()
        for try await chunk in self {
            try collected.append(chunk, upTo: limit)
        }
        return collected
    }
}
