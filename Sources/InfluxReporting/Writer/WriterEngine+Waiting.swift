import LineProtocol

/// Writes that wait for room instead of dropping anything.
extension WriterEngine {
    func takeWhenThereIsRoom(
        _ write: (inout LineEncoder, Int64) -> Void
    ) async throws(CancellationError) -> WriteResult {
        while true {
            if Task.isCancelled { throw CancellationError() }
            let moment = room.moment
            let result = takeIfThereIsRoom(write)
            guard let reason = result.dropReason, reason.isForNow else { return result }
            // What fills the room is sent, also what would have waited for more.
            gather()
            shared.withLock { $0.batching.gathered() }
            advance()
            await room.wait(since: moment)
        }
    }
}

extension DropReason {
    /// Whether there may be room later.
    var isForNow: Bool { self == .noRoom || self == .disk }
}
