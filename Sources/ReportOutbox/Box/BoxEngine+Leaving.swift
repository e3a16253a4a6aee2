import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Removes or quarantines the files of reports that leave.
extension BoxEngine {
    /// Ends a report whose phase is `leaving`, and returns whether its file is gone too.
    @discardableResult
    func leave(_ handle: BoxHandle, _ fate: BoxState.Fate, status: HTTPStatus? = nil) -> Bool {
        guard let entry = shared.withLock({ $0.box[handle] }) else { return false }
        let id = entry.name.id
        let event: ReportEvent
        var aside: AsideName?
        let hasLeft: Bool
        switch fate {
        case .delivered:
            hasLeft = remove(StoredFile(entry.name))
            event = .delivered(id, status)
        case .dropped(let loss):
            hasLeft = remove(StoredFile(entry.name))
            note(discarded: entry.name, because: loss)
            event = .dropped(id, because: loss)
        case .setAside(let loss):
            guard let outcome = setAside(entry.name, loss) else {
                stay(handle, loss)
                return false
            }
            (event, aside) = outcome
            hasLeft = aside != nil
        case .waits: return true  // It stays.
        }
        // A listener to the event finds the report gone, and a submission that waits for its place comes after the event.
        let waiters = shared.withLock { $0.remove(handle) }
        emit(event)
        signal(waiters)
        if let aside { quarantine(aside) }
        if case .setAside = fate { return hasLeft }
        release(entry.name, delivered: fate == .delivered)
        return hasLeft
    }

    /// Tells the app that the box is done with a file that the app keeps.
    private func release(_ name: RecordName, delivered: Bool) {
        guard name.flags.contains(.keptOutside), let locations = settings.locations,
            let url = locations.location(of: name.id)
        else { return }
        locations.release(name.id, at: url, delivered: delivered)
    }

    /// Removes a file.
    ///
    /// If that fails, the report is not sent again all the same, and the file is removed later.
    @discardableResult
    func remove(_ file: StoredFile) -> Bool {
        do throws(FileFailure) {
            try store.remove(file)
            return true
        } catch {
            shared.withLock { $0.remains.append(file) }
            trouble(error)
            return false
        }
    }

    /// Tries again to remove what could not be removed.
    func sweepRemains() {
        let remains = shared.withLock { replace(&$0.remains, with: []) }
        for (index, file) in remains.enumerated() {
            do throws(FileFailure) {
                try store.remove(file)
            } catch {
                shared.withLock { $0.remains += remains[index...] }
                return
            }
        }
    }

    /// Keeps a report in the box that could not be set aside, to be tried again.
    private func stay(_ handle: BoxHandle, _ loss: ReportLoss) {
        let now = now
        let (entry, waiters) = shared.withLock { shared in
            let time = shared.time(now)
            shared.box.stay(handle, loss, now: time)
            let entry = shared.box[handle]
            return (entry, entry.flatMap { shared.waiters.removeValue(forKey: $0.name.id) } ?? [])
        }
        if let entry {
            let cause: RetryCause
            switch loss {
            case .refused(let status): cause = .status(status)
            case .failed(let code): cause = .error(code)
            default: cause = .error(.unknown)
            }
            let wait = shared.withLock { $0.time(now) }.duration(to: entry.due)
            let date = settings.timers.date.addingTimeInterval(wait / .seconds(1))
            emit(.willRetry(entry.name.id, at: date, after: cause))
        }
        signal(waiters)
        schedulePump()
    }

    /// Moves a file to where it is kept for inspection, and returns what has become of it; nil if it cannot be moved.
    private func setAside(_ name: RecordName, _ loss: ReportLoss) -> (ReportEvent, AsideName?)? {
        let aside = AsideName(name, because: loss)
        do throws(FileFailure) {
            try move(aside)
            return (.setAside(name.id, because: loss), aside)
        } catch {
            // Another program removed it, and there is nothing left to inspect.
            if error.isMissing {
                note(discarded: name, because: loss)
                return (.dropped(name.id, because: loss), nil)
            }
            trouble(error)
            return nil
        }
    }

    /// Moves a report to those set aside.
    func move(_ aside: AsideName) throws(FileFailure) {
        try store.setAside(aside)
        // It is there now, whatever becomes of that; a loss of power may bring it back, to be sent again.
        do throws(FileFailure) { try store.syncMove(into: ReportStore.asideFolder) } catch { trouble(error) }
    }

    /// Keeps a report that was set aside, and removes the oldest ones if there are too many.
    func quarantine(_ aside: AsideName) {
        let trimmed = shared.withLock { shared in
            shared.aside.add(aside)
            return shared.aside.trim(count: settings.maximumSetAsideCount, bytes: settings.maximumSetAsideBytes)
        }
        for aside in trimmed { removeAside(aside, because: .noRoom) }
    }

    /// Removes a report that was set aside and is not kept any more.
    func removeAside(_ aside: AsideName, because loss: ReportLoss) {
        let name = aside.name
        remove(StoredFile(aside))
        note(discarded: name, because: loss)
        emit(.dropped(name.id, because: loss))
        // The file is still needed by another report of that identifier.
        let isNeeded = shared.withLock { shared in
            shared.box.handle(of: name.id) != nil || shared.aside.reports.contains { $0.name.id == name.id }
        }
        if !isNeeded { release(name, delivered: false) }
    }
}

/// Tells servers what never arrived.
extension BoxEngine {
    /// Counts a report that is gone without having arrived.
    private func note(discarded name: RecordName, because loss: ReportLoss) {
        guard settings.discardedHeader != nil, loss.isDiscard else { return }
        shared.withLock { $0.discards.note(loss.name, name.kind, for: name.destination) }
    }

    /// Counts a report that was not taken in.
    func note(refused head: RecordHead, _ kind: ReportKind, because error: OutboxError) {
        guard settings.discardedHeader != nil, let reason = error.code.discardReason else { return }
        shared.withLock { $0.discards.note(reason, kind, for: head.destination) }
    }

    /// Adds to the request of an attempt what its server has not been told.
    func addDiscards(to request: inout HTTPRequest, of name: RecordName) {
        guard let header = settings.discardedHeader else { return }
        let text = shared.withLock { $0.discards.take(for: name.destination, by: name.sequence) }
        if let text { request.headers[header] = text }
    }

    /// Takes up what was written down in a directory.
    func readDiscards(of store: ReportStore) {
        do throws(FileFailure) {
            let bytes = try store.readDiscards()
            guard shared.withLock({ $0.discards.add(bytes) }) else {
                return emit(.trouble("The counts of discarded reports are damaged, and begin anew."))
            }
        } catch {
            trouble(error)
        }
    }

    /// Writes the counts down if they have changed.
    func saveDiscards() {
        guard let bytes = shared.withLock({ $0.discards.takeChange() }) else { return }
        do throws(FileFailure) {
            try store.writeDiscards(bytes)
        } catch {
            shared.withLock { $0.discards.wasNotWritten() }
            trouble(error)
        }
    }
}

/// The reports that were set aside, oldest first, and how many bytes they have.
struct Quarantine {
    private(set) var reports: [AsideName] = []
    private(set) var bytes: Int64 = 0

    mutating func add(_ aside: AsideName) {
        reports.append(aside)
        bytes = bytes.addingClamped(aside.name.size)
    }

    mutating func remove(_ id: ReportID) -> AsideName? {
        guard let index = reports.firstIndex(where: { $0.name.id == id }) else { return nil }
        bytes -= reports[index].name.size
        return reports.remove(at: index)
    }

    /// Takes out the oldest, as many as there are too many.
    mutating func trim(count: Int, bytes most: Int64) -> [AsideName] {
        var trimmed: [AsideName] = []
        for aside in reports {
            guard reports.count - trimmed.count > max(0, count) || bytes > most else { break }
            trimmed.append(aside)
            bytes -= aside.name.size
        }
        reports.removeFirst(trimmed.count)
        return trimmed
    }
}
