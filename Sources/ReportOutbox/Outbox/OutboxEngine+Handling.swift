import Dispatch
import DurableFiles
import LoaderChain

/// Carries out the calls of the app.
extension OutboxEngine {
    func hurry() {
        withTime { shared, time, _ in shared.outbox.hurry(now: time) }
        schedulePump()
    }

    /// Retries the reports that wait for a connection, but not those that wait because a server asked for it.
    func hurryAfterMisses() {
        withTime { shared, time, _ in shared.outbox.hurryAfterMisses(now: time) }
        schedulePump()
    }

    /// Returns a dead letter to the outbox, as a report that was submitted now.
    func retry(_ id: ReportID) throws(OutboxError) {
        guard enter() else { throw Self.closed }
        defer { exit() }
        let now = now
        // Checking the capacity and reserving it are one step under the lock.
        let taken = try shared.withLock { shared throws(OutboxError) in try shared.readmit(id, at: now) }
        guard let (deadLetter, name, handle) = taken else {
            throw OutboxError(
                .unknownReport, "“\(id)” is not a dead letter, or a report with this identifier is in the outbox.")
        }
        do throws(FileFailure) {
            try store.restore(deadLetter, as: name)
        } catch {
            signal(
                shared.withLock { shared in
                    shared.deadLetters.add(deadLetter)
                    return shared.remove(handle)
                })
            throw OutboxError(error)
        }
        // The report is in the outbox now, even if syncing fails; the next launch resolves a file that is in two places.
        do throws(FileFailure) { try store.syncMove(into: "") } catch { trouble(error) }
        let (leaving, waiters) = shared.withLock { shared in
            (shared.outbox.accept(handle), shared.waiters.removeValue(forKey: id) ?? [])
        }
        signal(waiters)
        drop(leaving: leaving, because: .noRoom)
        schedulePump()
    }

    func purge(_ id: ReportID) -> Bool {
        guard enter() else { return false }
        defer { exit() }
        let handle = shared.withLock { shared -> OutboxHandle? in
            guard let handle = shared.outbox.handle(of: id), shared.outbox[handle]?.phase == .waiting else {
                return nil
            }
            shared.outbox.change(handle) { $0.phase = .leaving }
            return handle
        }
        if let handle { leave(handle, .dropped(.purged)) }
        guard let deadLetter = shared.withLock({ $0.deadLetters.remove(id) }) else { return handle != nil }
        removeDeadLetter(deadLetter, because: .purged)
        return true
    }
}

extension OutboxEngine.Shared {
    /// Gives a dead letter a place and a new name in the outbox; nil if there is none, or a report there has its identifier.
    fileprivate mutating func readmit(
        _ id: ReportID, at now: ClockReading
    ) throws(OutboxError) -> (DeadLetterName, RecordName, OutboxHandle)? {
        guard outbox.handle(of: id) == nil, let known = deadLetters.reports.first(where: { $0.name.id == id }) else {
            return nil
        }
        if let refusal = outbox.limitReached(by: known.name) { throw refusal }
        guard let deadLetter = deadLetters.remove(id) else { return nil }
        var name = deadLetter.name
        name.sequence = outbox.nextSequence
        outbox.nextSequence += 1
        name.attempts = 0
        // The age starts again from zero; otherwise the report might expire immediately.
        name.submittedMilliseconds = now.wall
        name.dueMilliseconds = now.wall
        name.flags.remove(.pausesDestination)
        let time = time(now)
        let entry = OutboxEntry(name: name, phase: .writing, born: time, due: time, wasFound: true)
        return (deadLetter, name, outbox.insert(entry))
    }
}
