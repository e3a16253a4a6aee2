import LoaderChainPlatformFoundation

/// Passes a body from a terminal, which cannot wait, to a user's task, which reads it; what is unread beyond a megabyte is kept in a file.
package final class ChunkPipe: ResponseSink, @unchecked Sendable {
    private let state = Locked(State())
    private let onLeave: @Sendable () -> Void

    private let failure: @Sendable (SinkError) -> HTTPError

    /// - Parameters:
    ///   - onLeave: called if the reader leaves before the end.
    ///   - failure: the error for a reader whose bytes could not be read again.
    package init(
        onLeave: @escaping @Sendable () -> Void, failure: @escaping @Sendable (SinkError) -> HTTPError
    ) {
        self.onLeave = onLeave
        self.failure = failure
    }

    private struct State {
        var store = ChunkStore()
        /// How the body has ended, with its trailers.
        var end: Result<HTTPHeaders, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
        /// Whether the reader is gone, so that new bytes can be dropped.
        var isDropped = false
    }

    // MARK: Writing

    package func write(_ data: Data) throws(SinkError) {
        // The store's file is written under the lock, which keeps the bytes in order.
        let reader = try state.withLock { (state) throws(SinkError) -> CheckedContinuation<Data?, any Error>? in
            guard state.end == nil, !state.isDropped else { return nil }
            if let reader = replace(&state.reader, with: nil) { return reader }
            try state.store.write(data)
            return nil
        }
        reader?.resume(returning: data)
    }

    /// Does nothing: ``end(with:)`` ends the chunks, and knows how the transfer ended.
    package func finish() -> DeliveredBody { .nothing }

    /// Does nothing: what has arrived can still be read, and the error follows it.
    package func discard() {}

    package func end(with result: HTTPResult) {
        let end = result.map(\.trailers).mapError { $0 as any Error }
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            return replace(&state.reader, with: nil)
        }
        reader?.resume(with: end.map { _ in nil })
    }

    // MARK: Reading

    package func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { read(with: $0) }
        } onCancel: {
            leave(CancellationError())
        }
    }

    private func read(with reader: CheckedContinuation<Data?, any Error>) {
        do throws(SinkError) {
            let answer = try state.withLock { (state) throws(SinkError) -> Result<Data?, any Error>? in
                if let data = try state.store.read() { return .success(data) }
                if let end = state.end { return end.map { _ in nil } }
                guard state.reader == nil else { return .failure(SecondReader()) }
                state.reader = reader
                return nil
            }
            if let answer { reader.resume(with: answer) }
        } catch {
            let error = failure(error)
            leave(error)
            reader.resume(throwing: error)
        }
    }

    /// Thrown to a task that reads while another one is waiting.
    package struct SecondReader: Error, CustomStringConvertible {
        package var description: String { "Another task is reading the chunks of this response; read them in one task" }
    }

    /// The fields that followed the body; none while something is unread.
    package var trailers: HTTPHeaders {
        state.withLock { state in
            guard state.store.isEmpty, case .success(let trailers)? = state.end else { return [:] }
            return trailers
        }
    }

    /// Called when the last copy of the response is gone or its task is cancelled, so that nothing is read any more.
    package func drop() { leave(CancellationError()) }

    private func leave(_ error: any Error) {
        let (reader, hadEnded, store) = state.withLock { state in
            let hadEnded = state.end != nil
            // What has not been read is lost with the store, so a later reader cannot mistake the body for complete.
            if !hadEnded || !state.store.isEmpty { state.end = .failure(error) }
            state.isDropped = true
            return (replace(&state.reader, with: nil), hadEnded, replace(&state.store, with: ChunkStore()))
        }
        _ = consume store
        reader?.resume(throwing: error)
        if !hadEnded { onLeave() }
    }
}

/// A buffer between a fast writer and a slow reader: up to a megabyte in memory, and the rest in a temporary file.
///
/// The file is unlinked as soon as it is open, and truncated whenever the reader has caught up.
package struct ChunkStore {
    package static let memoryLimit = 1 << 20
    /// How much is read from the file at once.
    private static let portion = 256 << 10

    private let memoryLimit: Int
    private var chunks = LinkedQueue<Data>()
    private var bytesInMemory = 0
    private var file: TemporaryFile?
    private var readOffset: Int64 = 0
    private var writeOffset: Int64 = 0

    package init(memoryLimit: Int = Self.memoryLimit) { self.memoryLimit = memoryLimit }

    package var isEmpty: Bool { chunks.isEmpty && readOffset == writeOffset }

    package mutating func write(_ data: Data) throws(SinkError) {
        // Once something waits in the file, everything after it goes there too, to keep the order.
        if readOffset == writeOffset, bytesInMemory + data.count <= memoryLimit || chunks.isEmpty {
            _ = chunks.append(data)
            bytesInMemory += data.count
            return
        }
        if file == nil {
            file = try TemporaryFile("chunks")
            file?.remove()
        }
        try file?.write(data, at: writeOffset)
        writeOffset += Int64(data.count)
    }

    /// The next bytes; nil if there are none yet.
    package mutating func read() throws(SinkError) -> Data? {
        if let chunk = chunks.popFirst() {
            bytesInMemory -= chunk.count
            return chunk
        }
        guard readOffset < writeOffset, let file else { return nil }
        let data = try file.read(Int(min(writeOffset - readOffset, Int64(Self.portion))), at: readOffset)
        readOffset += Int64(data.count)
        if readOffset == writeOffset {
            file.empty()
            (readOffset, writeOffset) = (0, 0)
        }
        return data
    }
}
