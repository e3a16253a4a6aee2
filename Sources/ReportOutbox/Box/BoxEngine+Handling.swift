import Dispatch
import DurableFiles
import LoaderChain

/// Carries out what the app asks for reports in the box.
extension BoxEngine {
    func hurry() {
        let now = now
        shared.withLock { shared in
            let time = shared.time(now)
            shared.box.hurry(now: time)
        }
        schedulePump()
    }

    /// Makes due what waits for a connection, and leaves the waits that servers asked for.
    func hurryAfterMisses() {
        let now = now
        shared.withLock { shared in
            let time = shared.time(now)
            shared.box.hurryAfterMisses(now: time)
        }
        schedulePump()
    }

    func takeBack(_ id: ReportID) throws(OutboxError) {
        guard enter() else { throw Self.closed }
        defer { exit() }
        let now = now
        // Its place is taken in the same step in which there is one.
        let taken = try shared.withLock { shared throws(OutboxError) -> (AsideName, RecordName, BoxHandle)? in
            guard shared.box.handle(of: id) == nil, let known = shared.aside.reports.first(where: { $0.name.id == id })
            else { return nil }
            if let refusal = shared.box.lackOfRoom(for: known.name) { throw refusal }
            guard let aside = shared.aside.remove(id) else { return nil }
            var name = aside.name
            name.sequence = shared.box.nextSequence
            shared.box.nextSequence += 1
            name.attempts = 0
            // Its age begins anew: a report that is tried again must not be too old for it.
            name.submittedMilliseconds = now.wall
            name.dueMilliseconds = now.wall
            name.flags.remove(.pausesDestination)
            let time = shared.time(now)
            let handle = shared.box.insert(BoxEntry(name: name, phase: .writing, born: time, due: time, wasFound: true))
            return (aside, name, handle)
        }
        guard let (aside, name, handle) = taken else {
            throw OutboxError(
                .unknownReport, "No report “\(id)” was set aside, or one of that identifier is in the box.")
        }
        do throws(FileFailure) {
            try store.takeBack(aside, as: name)
        } catch {
            signal(
                shared.withLock { shared in
                    shared.aside.add(aside)
                    return shared.remove(handle)
                })
            throw OutboxError(error)
        }
        // It is in the box now, whatever becomes of that; the next launch puts right what is in two places.
        do throws(FileFailure) { try store.syncMove(into: "") } catch { trouble(error) }
        let (leaving, waiters) = shared.withLock { shared in
            (shared.box.accept(handle), shared.waiters.removeValue(forKey: id) ?? [])
        }
        signal(waiters)
        for handle in leaving { leave(handle, .dropped(.noRoom)) }
        schedulePump()
    }

    func purge(_ id: ReportID) -> Bool {
        guard enter() else { return false }
        defer { exit() }
        let handle = shared.withLock { shared -> BoxHandle? in
            guard let handle = shared.box.handle(of: id), shared.box[handle]?.phase == .waiting else { return nil }
            shared.box.change(handle) { $0.phase = .leaving }
            return handle
        }
        if let handle { leave(handle, .dropped(.purged)) }
        guard let aside = shared.withLock({ $0.aside.remove(id) }) else { return handle != nil }
        removeAside(aside, because: .purged)
        return true
    }

    func settle(_ id: ReportID, with result: HTTPResult) -> Bool {
        guard enter() else { return false }
        defer { exit() }
        let handle = shared.withLock { shared -> BoxHandle? in
            guard let handle = shared.box.handle(of: id), shared.box.beginSettling(handle) else { return nil }
            return handle
        }
        guard let handle else { return false }
        enqueue { [self] in
            settle(handle, result)
            pump()
        }
        return true
    }
}
