import LoaderChainPlatformFoundation

/// The body of a response, piece by piece as it arrives.
///
/// ```swift
/// guard let chunks = try await chain.load(request).chunks else { return }
/// for try await chunk in chunks { print(chunk.count) }
/// ```
///
/// There is one position: each chunk is returned once. Read the chunks with one task. When the last copy of the
/// response is released, unread chunks are released too, and the transfer ends.
///
/// A transfer that fails throws an ``HTTPError``. Cancelling the task that reads ends the transfer, and throws a
/// `CancellationError`.
public struct ResponseChunks: AsyncSequence, Sendable {
    /// A piece of the body, never empty.
    public typealias Element = Data

    private let source: Source

    /// Makes a sequence, as a terminal or a test does.
    ///
    /// - Parameters:
    ///   - next: returns the next chunk, or nil at the end. It is called again only after it has returned.
    ///   - onDrop: called once, when the last copy of the sequence is released.
    public init(next: @escaping @Sendable () async throws -> Data?, onDrop: @escaping @Sendable () -> Void = {}) {
        source = Source(next: next, onDrop: onDrop)
    }

    /// Makes an iterator at the shared position.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// The iterator.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let source: Source

        /// The next chunk, or nil at the end.
        public mutating func next() async throws -> Data? { try await source.next() }
    }

    fileprivate final class Source: Sendable {
        let next: @Sendable () async throws -> Data?
        private let onDrop: @Sendable () -> Void

        init(next: @escaping @Sendable () async throws -> Data?, onDrop: @escaping @Sendable () -> Void) {
            self.next = next
            self.onDrop = onDrop
        }

        deinit { onDrop() }
    }
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
