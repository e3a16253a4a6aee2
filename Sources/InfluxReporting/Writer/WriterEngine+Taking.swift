import DurableFiles
import LineProtocol
import LoaderChain

/// Accepts points: a point is encoded as a line, and the line is held before the call returns.
extension WriterEngine {
    /// Accepts a point, which `write` encodes outside the lock, with the encoder and a ``TimeNudge`` that it gets.
    @inline(__always)
    func take(_ write: (inout LineEncoder, Int64) -> Void) -> WriteResult { take(write, mayDrop: true) }

    @inline(__always)
    private func take(_ write: (inout LineEncoder, Int64) -> Void, mayDrop: Bool) -> WriteResult {
        let (scratch, nudge) = state.withLock { $0.encoders.lend() }
        write(&scratch.encoder, nudge)
        let now = timers.now
        let taken = state.withLock { $0.take(scratch, at: now, mayDrop: mayDrop) }
        if taken.result == .inMemory, taken.line == nil, !taken.advances, !taken.announcesDrops { return .inMemory }
        return settle(taken, scratch)
    }

    /// Finishes accepting a point: writes it to its file, and acts on the changes.
    @inline(never)
    private func settle(_ taken: WriterState.Taken, _ scratch: Scratch) -> WriteResult {
        // First, because the limit of the disk applies to files, and the line may create another file.
        remove(taken.uselessFiles)
        let result = taken.line.map { save($0, scratch) } ?? taken.result
        // A parcel is not sent while one of its lines is being written, so the event handlers run after that.
        if taken.announcesDrops { announceDrops() }
        if taken.advances { advance() }
        return result
    }

    /// Writes a line to its block's file, on the calling thread and outside the lock.
    private func save(_ line: LineOnItsWay, _ scratch: Scratch) -> WriteResult {
        var failure: FileFailure?
        do throws(FileFailure) {
            try scratch.encoder.withUnsafeBytes { bytes throws(FileFailure) in
                try line.journal.write(bytes, at: line.offset)
            }
        } catch {
            failure = error
        }
        let (result, isWaitedFor, synchronizes) = state.withLock { state in
            state.encoders.takeBack(scratch)
            let (result, synchronizes) = state.wrote(line, failed: failure != nil)
            return (result, line.parcel != state.batching.open.number, synchronizes)
        }
        if let reason = result.dropReason {
            // The writer has ended, or the block was dropped for newer points meanwhile, possibly before its file was created.
            if reason == .bufferFull { remove([line.journal.file]) } else { announceDrops() }
            return result
        }
        if let failure { diskFailed(failure) }
        if synchronizes { scheduleSynchronization() }
        if isWaitedFor { advance() }
        return result
    }

    // MARK: Waiting for space

    /// Accepts a point as soon as there is space for it without dropping another.
    func enqueue(
        _ write: (inout LineEncoder, Int64) -> Void
    ) async throws(CancellationError) -> WriteResult {
        while true {
            if Task.isCancelled { throw CancellationError() }
            // Read before the attempt, so that space freed between the attempt and the wait is not missed.
            let moment = freedSpace.read(\.self)
            let result = take(write, mayDrop: false)
            guard let reason = result.dropReason, reason.isTemporary else { return result }
            // The points that fill the writer are sent, also those that would have waited for more.
            state.withLock { $0.batching.release() }
            advance()
            await freedSpace.wait(until: { $0 != moment })
        }
    }
}
