#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The body of a response, piece by piece as it arrives.
///
/// ```swift
/// guard let chunks = try await chain.load(request).chunks else { return }
/// for try await chunk in chunks { print(chunk.count) }
/// ```
///
/// There is one position: whoever asks gets the next chunk, and nobody gets it again. Read it with one task. What has not
/// been read is let go of together with the last copy of the response, and the transfer ends then.
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
    ///   - next: answers the next chunk, or nil at the end. It is asked again only after it has answered.
    ///   - onDrop: called once, when nobody can ask any more.
    public init(
        next: @escaping @Sendable () async throws -> Data?, onDrop: @escaping @Sendable () -> Void = {}
    ) {
        source = Source(next: next, onDrop: onDrop)
    }

    /// An iterator, at the one position.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// Asks for one chunk after the other.
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
    /// - Throws: ``HTTPBodyError`` for a body that is larger, and whatever the transfer fails with.
    public func collect(upTo limit: Int) async throws -> Data {
        var collected = Data()
        for try await chunk in self {
            guard chunk.count <= limit - collected.count else {
                throw HTTPBodyError(
                    "The body has more bytes than the limit of \(limit); raise it or read piece by piece.")
            }
            collected.append(chunk)
        }
        return collected
    }
}
