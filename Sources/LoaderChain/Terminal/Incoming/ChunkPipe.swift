import LoaderChainPlatformFoundation

/// Passes a body from a terminal, which writes it, to a user's task, which reads it.
///
/// A writer that can wait asks ``hasRoom()`` before it writes, and what is unread stays in memory. What another writes is kept in a
/// file, beyond a megabyte.
package final class ChunkPipe: ResponseSink, @unchecked Sendable {
    private let state: Locked<State>
    private let onLeave: @Sendable () -> Void
    private let onRoom: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - onRoom: called when a writer that found no room may go on; nil for a writer that cannot wait.
    ///   - onLeave: called if the reader leaves before the end.
    package init(onRoom: (@Sendable () -> Void)? = nil, onLeave: @escaping @Sendable () -> Void) {
        state = Locked(State(store: onRoom == nil ? ChunkStore() : ChunkStore(memoryLimit: .max)))
        self.onRoom = onRoom
        self.onLeave = onLeave
    }

    private struct State {
        var store: ChunkStore
        var flow = ChunkFlow()
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
        /// Whether the reader is gone, so that new bytes can be dropped.
        var isDropped = false
    }

    // MARK: Writing

    /// Whether more may be written now; if not, `onRoom` is called when it may.
    package func hasRoom() -> Bool {
        state.withLock { state in
            // Without a reader nothing is kept.
            state.isDropped || state.end != nil || state.flow.mayWrite()
        }
    }

    package func write(_ data: Data) throws(SinkError) {
        // The store's file is written under the lock, which keeps the bytes in order.
        let reader = try state.withLock { (state) throws(SinkError) -> CheckedContinuation<Data?, any Error>? in
            guard state.end == nil, !state.isDropped else { return nil }
            if let reader = replace(&state.reader, with: nil) { return reader }
            try state.store.write(data)
            state.flow.wrote(data.count)
            return nil
        }
        reader?.resume(returning: data)
    }

    /// Does nothing: ``end(_:)`` ends the chunks, and knows how the transfer ended.
    package func finish() -> DeliveredBody { .nothing }

    /// Does nothing: what has arrived can still be read, and the error follows it.
    package func discard() {}

    /// Ends the chunks, with an error if the transfer failed.
    package func end(_ error: HTTPError?) {
        let end: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            return replace(&state.reader, with: nil)
        }
        reader?.resume(with: end.map { nil })
    }

    // MARK: Reading

    /// The next chunk; nil at the end.
    package func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { read(with: $0) }
        } onCancel: {
            leave(CancellationError())
        }
    }

    private func read(with reader: CheckedContinuation<Data?, any Error>) {
        let (answer, isRoomAgain) = state.withLock { state -> (Result<Data?, any Error>?, Bool) in
            do {
                if let data = try state.store.read() { return (.success(data), state.flow.read(data.count)) }
            } catch {
                return (.failure(error), false)
            }
            if let end = state.end { return (end.map { nil }, false) }
            guard state.reader == nil else { return (.failure(SecondReader()), false) }
            state.reader = reader
            return (nil, false)
        }
        if isRoomAgain { onRoom?() }
        if let answer { reader.resume(with: answer) }
    }

    /// Thrown to a task that reads while another one is waiting.
    package struct SecondReader: Error, CustomStringConvertible {
        package var description: String { "Another task is reading the chunks of this response; read them in one task" }
    }

    /// Called when the last copy of the response is gone, so that nothing can read any more.
    package func drop() { leave(nil) }

    private func leave(_ error: (any Error)?) {
        let (reader, hadEnded, store) = state.withLock { state in
            let hadEnded = state.end != nil
            // What has not been read is lost with the store, so that no later reader takes the body for complete.
            if let error, !hadEnded || !state.store.isEmpty { state.end = .failure(error) }
            state.isDropped = true
            return (replace(&state.reader, with: nil), hadEnded, replace(&state.store, with: ChunkStore()))
        }
        _ = consume store
        if let error { reader?.resume(throwing: error) }
        if !hadEnded { onLeave() }
    }
}
