import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Loads the contents of the directory.
extension OutboxEngine {
    /// Loads the result of a scan; the rest happens on the queue.
    func launch(_ scan: StoreScan, sends: Bool) {
        let duplicates = withTime { shared, time, now in
            let duplicates = shared.outbox.load(scan.reports, wallNow: now.wall, now: time)
            for deadLetter in scan.deadLetters {
                shared.outbox.nextSequence = max(shared.outbox.nextSequence, deadLetter.name.sequence + 1)
                // A power failure during a move between two folders may leave both files.
                if shared.outbox.holds(deadLetter.name) {
                    shared.deadLetterLeftovers.append(deadLetter)
                } else {
                    shared.deadLetters.add(deadLetter)
                }
            }
            return duplicates
        }
        enqueue { [self] in
            let foreign = scan.foreign
            if foreign.count > 0 { emit(.foreignFiles(count: foreign.count, names: foreign.names)) }
            for failure in scan.troubles { trouble(failure) }
            for name in duplicates { moveToDeadLetters(duplicate: name) }
            for deadLetter in shared.withLock({ LoaderChain.replace(&$0.deadLetterLeftovers, with: []) }) {
                remove(StoredFile(deadLetter))
            }
            if scan.hasDiscards { readDiscards() }
            // An earlier process may have ended before it synced the names, and a power failure would lose them.
            do throws(FileFailure) { try store.syncFound() } catch { trouble(error) }
            announce()
            if existing != nil { askAboutExisting() }
            drop(leaving: shared.withLock { $0.outbox.evictions() }, because: .noRoom)
            if sends { shared.withLock { $0.outbox.isRunning = true } }
            pump()
        }
    }

    private func announce() {
        let found = shared.withLock { shared in shared.outbox.entries.filter(\.wasFound).map(\.name) }
        for name in found { emit(.found(name.id, submitted: name.submitted)) }
    }

    private func moveToDeadLetters(duplicate name: RecordName) {
        let deadLetter = DeadLetterName(name, because: .duplicate)
        do throws(FileFailure) {
            try move(deadLetter)
            shared.withLock { $0.deadLetters.add(deadLetter) }
            emit(.deadLettered(name.id, because: .duplicate))
            trimDeadLetters()
        } catch {
            trouble(error)
        }
    }

    // MARK: Asking the app

    private func askAboutExisting() {
        for handle in shared.withLock({ $0.outbox.waitingHandles }) {
            let held = shared.withLock { shared -> OutboxEntry? in
                guard let entry = shared.outbox[handle], entry.phase == .waiting, entry.wasFound else { return nil }
                shared.outbox.change(handle) { $0.phase = .held }
                return entry
            }
            guard let entry = held else { continue }
            let report = ExistingReport(entry) { [store] in try store.request(of: entry.name) }
            switch existing?(report) ?? .keep {
            case .keep: wait(handle)
            case .replace(let request):
                replace(handle, entry.name, request)
                wait(handle)
            case .drop:
                shared.withLock { $0.outbox.change(handle) { $0.phase = .leaving } }
                leave(handle, .dropped(.byHandler))
            }
        }
    }

    /// Rewrites a report with another request; the old file stays until the new one is complete.
    private func replace(_ handle: OutboxHandle, _ name: RecordName, _ request: HTTPRequest) {
        let temporary = RecordName.temporaryPrefix + String(name.sequence, radix: 16)
        do {
            try check.check(request)
            let (old, body) = try store.read(name.text)
            let head = RecordHead(name.id, request.describing(old.headers), adding: old.headers.contentType)
            // The old report may have been on the disk for days, and the new one takes its place.
            let store = ReportStore(files: store.files, durability: .fsync, seal: store.seal)
            if name.flags.contains(.keptOutside) {
                try store.write(head, length: name.size, as: temporary)
            } else {
                _ = try store.write(head, try body.encode(), as: temporary, limit: .max)
            }
            // The name changes before the content, so that there are never two files of the report.
            var newName = name
            newName.destination = head.destination
            try store.rename(name, to: newName)
            shared.withLock { $0.outbox.rename(handle, to: newName) }
            try store.replace(newName, by: temporary)
        } catch {
            store.discard(temporary)
            emit(.trouble("The request of “\(name.id)” could not be replaced: \(error)"))
        }
    }
}

extension ReportStore {
    fileprivate func request(of name: RecordName) throws(OutboxError) -> HTTPRequest {
        do throws(RecordProblem) {
            return try readHead(name.text).request()
        } catch {
            throw OutboxError(error, name.id)
        }
    }
}

extension OutboxError {
    init(_ problem: RecordProblem, _ id: ReportID) {
        switch problem {
        case .damaged: self.init(.unreadable, "The file of “\(id)” is damaged.")
        case .sealed: self.init(.unreadable, "The seal of “\(id)” cannot be opened; restore the key.")
        case .missing(let failure), .failure(let failure): self.init(failure)
        }
    }
}

extension HTTPHeaders {
    /// The headers that describe the bytes, and therefore stay with them.
    fileprivate var contentType: HTTPHeaders { fields(named: "content-type") }

    fileprivate func fields(named name: String) -> HTTPHeaders {
        HTTPHeaders(self.filter { $0.name.lowercased() == name })
    }
}

extension HTTPRequest {
    /// Returns the request with the given `Content-Encoding` instead of its own, because the stored bytes keep their encoding.
    fileprivate func describing(_ headers: HTTPHeaders) -> HTTPRequest {
        var request = self
        request.headers["Content-Encoding"] = nil
        request.headers.merge(filling: headers.fields(named: "content-encoding"))
        return request
    }
}
