import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Removes the files of reports that leave the outbox, or moves them to the dead letters.
extension OutboxEngine {
    /// Ends a report whose phase is `leaving`, and returns whether its file has been removed too.
    @discardableResult
    func leave(_ handle: OutboxHandle, _ fate: OutboxState.Fate, status: HTTPStatus? = nil) -> Bool {
        let (hasLeft, name) = end(leaving: handle, fate, status)
        if let name { release(name, delivered: fate == .delivered) }
        return hasLeft
    }

    /// Drops reports whose phase is `leaving`, and calls the app when all of them have left: it may submit a report, which waits for one
    /// with its identifier.
    func drop(leaving handles: [OutboxHandle], because loss: ReportLoss) {
        let released = handles.compactMap { end(leaving: $0, .dropped(loss), nil).released }
        for name in released { release(name, delivered: false) }
    }

    /// Ends a report, and returns whether its file has been removed too, and the report if the app has to be told.
    private func end(
        leaving handle: OutboxHandle, _ fate: OutboxState.Fate, _ status: HTTPStatus?
    ) -> (hasLeft: Bool, released: RecordName?) {
        guard let entry = shared.withLock({ $0.outbox[handle] }) else { return (false, nil) }
        let id = entry.name.id
        let event: ReportEvent
        var deadLetter: DeadLetterName?
        let hasLeft: Bool
        switch fate {
        case .delivered:
            hasLeft = remove(StoredFile(entry.name))
            event = .delivered(id, status)
        case .dropped(let loss):
            hasLeft = remove(StoredFile(entry.name))
            note(discarded: entry.name, because: loss)
            event = .dropped(id, because: loss)
        case .deadLetter(let loss):
            guard let outcome = moveToDeadLetters(entry.name, loss) else {
                stay(handle, loss)
                return (false, nil)
            }
            (event, deadLetter) = outcome
            hasLeft = deadLetter != nil
        case .waits: return (true, nil)  // The report stays.
        }
        // When the event is emitted, the report is already gone, or among the dead letters; a submission that waits for its
        // identifier continues afterwards.
        let waiters = shared.withLock { shared in
            if let deadLetter { shared.deadLetters.add(deadLetter) }
            return shared.remove(handle)
        }
        emit(event)
        signal(waiters)
        if deadLetter != nil { trimDeadLetters() }
        if case .deadLetter = fate { return (hasLeft, nil) }
        return (hasLeft, entry.name)
    }

    /// Releases a file that the app keeps.
    private func release(_ name: RecordName, delivered: Bool) {
        guard name.flags.contains(.keptOutside), let locations = settings.locations,
            let url = locations.location(of: name.id)
        else { return }
        locations.release(name.id, at: url, delivered: delivered)
    }

    /// Removes a file; if that fails, the report is not sent again nevertheless, and the file is removed later.
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

    /// Retries the removal of files that could not be removed.
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

    /// Keeps a report in the outbox that could not be moved to the dead letters, to try again later.
    private func stay(_ handle: OutboxHandle, _ loss: ReportLoss) {
        let (entry, waiters, time) = withTime { shared, time, _ in
            shared.outbox.stay(handle, loss, now: time)
            let entry = shared.outbox[handle]
            return (entry, entry.flatMap { shared.waiters.removeValue(forKey: $0.name.id) } ?? [], time)
        }
        if let entry {
            let wait = time.duration(to: entry.due)
            let date = settings.timers.date.addingTimeInterval(wait / .seconds(1))
            emit(.willRetry(entry.name.id, at: date, after: loss.cause))
        }
        signal(waiters)
        schedulePump()
    }

    /// Moves a report to the dead letters, and returns the resulting event; nil if the file cannot be moved.
    private func moveToDeadLetters(_ name: RecordName, _ loss: ReportLoss) -> (ReportEvent, DeadLetterName?)? {
        let deadLetter = DeadLetterName(name, because: loss)
        do throws(FileFailure) {
            try move(deadLetter)
            return (.deadLettered(name.id, because: loss), deadLetter)
        } catch {
            // Another program removed the file, so nothing is left to inspect.
            if error.isMissing {
                note(discarded: name, because: loss)
                return (.dropped(name.id, because: loss), nil)
            }
            trouble(error)
            return nil
        }
    }

    func move(_ deadLetter: DeadLetterName) throws(FileFailure) {
        try store.moveToDeadLetters(deadLetter)
        // The file is there now, even if syncing fails; a power failure may move it back, and then it is sent again.
        do throws(FileFailure) { try store.syncMove(into: ReportStore.deadLetterFolder) } catch { trouble(error) }
    }

    func trimDeadLetters() {
        let trimmed = shared.withLock { shared in
            shared.deadLetters.trim(
                count: settings.maximumDeadLetterCount, bytes: settings.maximumDeadLetterBytes)
        }
        for deadLetter in trimmed { removeDeadLetter(deadLetter, because: .noRoom) }
    }

    func removeDeadLetter(_ deadLetter: DeadLetterName, because loss: ReportLoss) {
        let name = deadLetter.name
        remove(StoredFile(deadLetter))
        note(discarded: name, because: loss)
        emit(.dropped(name.id, because: loss))
        // Another report with the same identifier may still need the file.
        let isNeeded = shared.withLock { shared in
            shared.outbox.handle(of: name.id) != nil || shared.deadLetters.reports.contains { $0.name.id == name.id }
        }
        if !isNeeded { release(name, delivered: false) }
    }
}

/// Reports the lost reports to their servers.
extension OutboxEngine {
    /// Counts a report that was deleted without having been delivered.
    private func note(discarded name: RecordName, because loss: ReportLoss) {
        guard settings.discardedHeader != nil, loss.isDiscard else { return }
        shared.withLock { $0.discards.note(loss.name, name.kind, for: name.destination) }
    }

    func note(refused head: RecordHead, _ kind: ReportKind, because error: OutboxError) {
        guard settings.discardedHeader != nil, let reason = error.code.discardReason else { return }
        shared.withLock { $0.discards.note(reason, kind, for: head.destination) }
    }

    func addDiscards(to request: inout HTTPRequest, of name: RecordName) {
        guard let header = settings.discardedHeader else { return }
        let text = shared.withLock { $0.discards.take(for: name.destination, by: name.sequence) }
        if let text { request.headers[header] = text }
    }

    /// Loads the saved counts.
    func readDiscards() {
        do throws(FileFailure) {
            let bytes = try store.readDiscards()
            guard shared.withLock({ $0.discards.add(bytes) }) else {
                return emit(.trouble("The counts of lost reports are damaged, and restart from zero."))
            }
        } catch {
            trouble(error)
        }
    }

    /// Saves the counts if they have changed.
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

/// The dead letters, oldest first, and their total size.
struct DeadLetters {
    private(set) var reports: [DeadLetterName] = []
    private(set) var bytes: Int64 = 0

    mutating func add(_ deadLetter: DeadLetterName) {
        reports.append(deadLetter)
        bytes = bytes.addingClamped(deadLetter.name.size)
    }

    mutating func remove(_ id: ReportID) -> DeadLetterName? {
        guard let index = reports.firstIndex(where: { $0.name.id == id }) else { return nil }
        bytes -= reports[index].name.size
        return reports.remove(at: index)
    }

    /// Removes and returns the oldest dead letters, until the rest is within the limits.
    mutating func trim(count: Int, bytes most: Int64) -> [DeadLetterName] {
        var trimmed: [DeadLetterName] = []
        for deadLetter in reports {
            guard reports.count - trimmed.count > max(0, count) || bytes > most else { break }
            trimmed.append(deadLetter)
            bytes -= deadLetter.name.size
        }
        reports.removeFirst(trimmed.count)
        return trimmed
    }
}
