import DurableFiles
import LineProtocol
import LoaderChain

/// Takes points: a point becomes a line, and the line is held before the call returns.
extension WriterEngine {
    /// Takes a point in, which `write` writes into an encoder, under no lock.
    ///
    /// - Parameter write: is given the encoder, and a ``TimeNudge``.
    /// - Returns: what became of the point.
    @inline(__always)
    func take(_ write: (inout LineEncoder, Int64) -> Void) -> WriteResult { take(write, mayDrop: true) }

    @inline(__always)
    private func take(_ write: (inout LineEncoder, Int64) -> Void, mayDrop: Bool) -> WriteResult {
        let (scratch, nudge) = state.withLock { $0.encoders.lend() }
        write(&scratch.encoder, nudge)
        let now = timers.now
        let taken = state.withLock { $0.take(scratch, at: now, mayDrop: mayDrop) }
        if taken.result == .inMemory, taken.line == nil, !taken.advances, !taken.tellsDrops { return .inMemory }
        return settle(taken, scratch)
    }

    /// Does what taking a point has left to do.
    @inline(never)
    private func settle(_ taken: WriterState.Taken, _ scratch: Scratch) -> WriteResult {
        // At once, since the bound of the disk holds for files, and the line may make another.
        remove(taken.uselessFiles)
        let result = taken.line.map { save($0, scratch) } ?? taken.result
        // A parcel does not leave while one of its lines is on its way, so what listens to drops comes after.
        if taken.tellsDrops { tellDrops() }
        if taken.advances { advance() }
        return result
    }

    /// Writes a line to its block's file, on the calling thread and under no lock.
    private func save(_ line: LineOnItsWay, _ scratch: Scratch) -> WriteResult {
        var failure: FileFailure?
        do throws(FileFailure) {
            try scratch.encoder.withUnsafeBytes { bytes throws(FileFailure) in
                try line.journal.write(bytes, at: line.offset)
            }
        } catch {
            failure = error
        }
        let (isThere, isWaitedFor, synchronizes) = state.withLock { state in
            state.encoders.takeBack(scratch)
            let (isThere, synchronizes) = state.wrote(line, failed: failure != nil)
            return (isThere, line.parcel != state.batching.open.number, synchronizes)
        }
        guard isThere else {
            // The points of the block were dropped for newer ones meanwhile, which may have been before it had a file.
            remove([line.journal.file])
            return .dropped(.noRoom)
        }
        if let failure { diskFailed(failure) }
        if synchronizes { scheduleSynchronization() }
        if isWaitedFor { advance() }
        return failure == nil ? .saved : .inMemory
    }

    // MARK: Waiting for room

    /// Takes a point in when there is room for it without dropping another one.
    func takeWhenThereIsRoom(
        _ write: (inout LineEncoder, Int64) -> Void
    ) async throws(CancellationError) -> WriteResult {
        while true {
            if Task.isCancelled { throw CancellationError() }
            // So no write misses the room that is made between its try and its wait.
            let moment = room.read(\.self)
            let result = take(write, mayDrop: false)
            guard let reason = result.dropReason, reason.isForNow else { return result }
            // What fills the room is sent, also what would have waited for more.
            state.withLock { $0.batching.release() }
            advance()
            await room.wait(until: { $0 != moment })
        }
    }
}
