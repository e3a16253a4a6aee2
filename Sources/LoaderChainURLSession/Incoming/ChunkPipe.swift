import Foundation
import LoaderChain

/// Passes a body from the session, which writes it, to a user's task, which reads it.
final class ChunkPipe: ResponseSink, @unchecked Sendable {
    private let state = Locked(State())
    private let onLeave: @Sendable () -> Void

    /// - Parameter onLeave: called if the reader leaves before the end.
    init(onLeave: @escaping @Sendable () -> Void) { self.onLeave = onLeave }

    private struct State {
        var store = ChunkStore()
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
        /// Whether the reader is gone, so that new bytes can be dropped.
        var isDropped = false
    }

    // MARK: Writing

    func write(_ data: Data) throws(SinkError) {
        // The store's file is written under the lock, which keeps the bytes in order.
        let reader = try state.withLock { (state) throws(SinkError) -> CheckedContinuation<Data?, any Error>? in
            guard state.end == nil, !state.isDropped else { return nil }
            if let reader = replace(&state.reader, with: nil) { return reader }
            try state.store.write(data)
            return nil
        }
        reader?.resume(returning: data)
    }

    /// Does nothing: ``end(_:)`` ends the chunks, and knows how the transfer ended.
    func finish() -> DeliveredBody { .nothing }

    /// Does nothing: what has arrived can still be read, and the error follows it.
    func discard() {}

    /// Ends the chunks, with an error if the transfer failed.
    func end(_ error: HTTPError?) {
        let end: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            return replace(&state.reader, with: nil)
        }
        reader?.resume(with: end.map { nil })
    }

    // MARK: Reading

    /// The next chunk; nil at the end.
    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { read(with: $0) }
        } onCancel: {
            leave(CancellationError())
        }
    }

    private func read(with reader: CheckedContinuation<Data?, any Error>) {
        let answer = state.withLock { state -> Result<Data?, any Error>? in
            do {
                if let data = try state.store.read() { return .success(data) }
            } catch {
                return .failure(error)
            }
            if let end = state.end { return end.map { nil } }
            guard state.reader == nil else { return .failure(SecondReader()) }
            state.reader = reader
            return nil
        }
        if let answer { reader.resume(with: answer) }
    }

    /// Thrown to a task that reads while another one is waiting.
    struct SecondReader: Error, CustomStringConvertible {
        var description: String { "Another task is reading the chunks of this response; read them in one task" }
    }

    /// Called when the last copy of the response is gone, so that nothing can read any more.
    func drop() { leave(nil) }

    private func leave(_ error: (any Error)?) {
        let (reader, hadEnded, store) = state.withLock { state in
            let hadEnded = state.end != nil
            if let error, !hadEnded { state.end = .failure(error) }
            state.isDropped = true
            return (replace(&state.reader, with: nil), hadEnded, replace(&state.store, with: ChunkStore()))
        }
        _ = consume store
        if let error { reader?.resume(throwing: error) }
        if !hadEnded { onLeave() }
    }
}
