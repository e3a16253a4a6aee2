import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Takes in what the directory contains.
extension BoxEngine {
    /// Takes up what a scan has found; the rest happens on the queue.
    func launch(_ scan: StoreScan, sends: Bool) {
        let now = now
        let duplicates = shared.withLock { shared in
            let time = shared.time(now)
            let duplicates = shared.box.load(scan.reports, wallNow: now.wall, now: time)
            for aside in scan.aside {
                shared.box.nextSequence = max(shared.box.nextSequence, aside.name.sequence + 1)
                // A loss of power during a move between two folders may leave both files.
                if shared.box.holds(aside.name) { shared.asideLeftovers.append(aside) } else { shared.aside.add(aside) }
            }
            return duplicates
        }
        enqueue { [self] in
            let foreign = scan.foreign
            if foreign.count > 0 { emit(.foreignFiles(count: foreign.count, names: foreign.names)) }
            for failure in scan.troubles { trouble(failure) }
            for name in duplicates { setAside(duplicate: name) }
            for aside in shared.withLock({ LoaderChain.replace(&$0.asideLeftovers, with: []) }) {
                remove(StoredFile(aside))
            }
            if scan.hasDiscards { readDiscards(of: store) }
            for box in scan.ownBoxes { adopt(box) }
            // A process that ended just before it could do so has left names that a loss of power would take.
            do throws(FileFailure) { try store.syncFound() } catch { trouble(error) }
            announce()
            if existing != nil { askAboutExisting() }
            for handle in shared.withLock({ $0.box.makeRoom() }) { leave(handle, .dropped(.noRoom)) }
            if sends { shared.withLock { $0.box.isRunning = true } }
            pump()
        }
    }

    private func announce() {
        let found = shared.withLock { shared in shared.box.entries.filter(\.wasFound).map(\.name) }
        for name in found { emit(.found(name.id, submitted: name.submitted)) }
    }

    private func setAside(duplicate name: RecordName) {
        let aside = AsideName(name, because: .duplicate)
        do throws(FileFailure) {
            try move(aside)
            emit(.setAside(name.id, because: .duplicate))
            quarantine(aside)
        } catch {
            trouble(error)
        }
    }

    // MARK: Asking the app

    private func askAboutExisting() {
        for handle in shared.withLock({ $0.box.waitingHandles }) {
            let held = shared.withLock { shared -> BoxEntry? in
                guard let entry = shared.box[handle], entry.phase == .waiting, entry.wasFound else { return nil }
                shared.box.change(handle) { $0.phase = .held }
                return entry
            }
            guard let entry = held else { continue }
            let report = ExistingReport(entry) { [store] in try store.request(of: entry.name) }
            switch existing?(report) ?? .keep {
            case .keep: shared.withLock { $0.box.wait(handle) }
            case .replace(let request):
                replace(handle, entry.name, request)
                shared.withLock { $0.box.wait(handle) }
            case .drop:
                shared.withLock { $0.box.change(handle) { $0.phase = .leaving } }
                leave(handle, .dropped(.byHandler))
            }
        }
    }

    /// Writes a report anew with another request.
    ///
    /// The old file stays until that has succeeded.
    private func replace(_ handle: BoxHandle, _ name: RecordName, _ request: HTTPRequest) {
        let temporary = RecordName.temporaryPrefix + String(name.sequence, radix: 16)
        do {
            try check.check(request)
            let (old, body) = try store.read(name.text)
            let head = RecordHead(name.id, request.describing(old.headers), adding: old.headers.contentType)
            if name.flags.contains(.keptOutside) {
                try store.write(head, length: name.size, as: temporary)
            } else {
                _ = try store.write(head, try body.encode(), as: temporary, limit: .max)
            }
            // The name changes first and the content second, so that there are never two files of the report.
            var newName = name
            newName.destination = head.destination
            try store.rename(name, to: newName)
            shared.withLock { $0.box.rename(handle, to: newName) }
            try store.replace(newName, by: temporary)
        } catch {
            store.discard(temporary)
            emit(.trouble("The request of “\(name.id)” was not replaced: \(error)"))
        }
    }
}

/// Takes over the boxes that other processes had within the directory.
extension BoxEngine {
    /// Takes over the reports of a box whose owner has ended, those that were set aside among them.
    ///
    /// They keep everything but their place in the order. One whose identifier is here already stays where it is, until that
    /// has left.
    private func adopt(_ box: String) {
        do throws(FileFailure) {
            guard let lock = try store.files.lock(box + "/" + FileFailure.lockName) else { return }
            defer { withExtendedLifetime(lock) {} }
            let own = ReportStore(
                files: try store.files.folder(box), durability: settings.durability, seal: settings.seal)
            let scan = try own.scan()
            for name in scan.reports { try adopt(name, of: box) }
            if scan.hasDiscards {
                readDiscards(of: own)
                try own.writeDiscards(Data())
            }
            if !scan.aside.isEmpty { try store.files.makeFolder(ReportStore.asideFolder) }
            for aside in scan.aside {
                var adopted = aside
                adopted.name.sequence = nextSequence()
                try store.files.rename(box + "/" + aside.path, to: adopted.path)
                quarantine(adopted)
            }
        } catch {
            trouble(error)
        }
    }

    private func adopt(_ name: RecordName, of box: String) throws(FileFailure) {
        guard shared.withLock({ $0.box.handle(of: name.id) == nil }) else { return }
        var adopted = name
        adopted.sequence = nextSequence()
        try store.files.rename(box + "/" + name.text, to: adopted.text)
        let now = now
        shared.withLock { [adopted] shared in
            let time = shared.time(now)
            shared.box.take(adopted, wallNow: now.wall, now: time)
        }
    }

    private func nextSequence() -> UInt64 {
        shared.withLock { shared in
            defer { shared.box.nextSequence += 1 }
            return shared.box.nextSequence
        }
    }
}

extension ReportStore {
    /// The request of a report, read from its file.
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
        case .sealed: self.init(.unreadable, "The seal of “\(id)” cannot be opened; bring the key back.")
        case .missing(let failure), .failure(let failure): self.init(failure)
        }
    }
}

extension HTTPHeaders {
    /// What describes the bytes, and therefore stays with them.
    fileprivate var contentType: HTTPHeaders { fields(named: "content-type") }

    fileprivate func fields(named name: String) -> HTTPHeaders {
        HTTPHeaders(self.filter { $0.name.lowercased() == name })
    }
}

extension HTTPRequest {
    /// The request for bytes that are encoded as some headers say: they stay so, whatever else is sent along.
    fileprivate func describing(_ headers: HTTPHeaders) -> HTTPRequest {
        var request = self
        request.headers["Content-Encoding"] = nil
        request.headers.merge(filling: headers.fields(named: "content-encoding"))
        return request
    }
}
