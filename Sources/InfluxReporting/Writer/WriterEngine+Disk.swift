import DurableFiles
import LoaderChain

/// What a writer with a directory does on the disk.
extension WriterEngine {
    /// Makes a block; where the disk fails, one in memory.
    func makeBlock(room: Int, points: Int) -> LineBlock {
        let memory = shared.withLock { $0.takeMemory(room: room) } ?? HeapMemory(capacity: room)
        do throws(FileFailure) { return try store.make(memory, points: points) } catch {
            diskFailed(error)
            return LineBlock(memory, maximumPoints: points)
        }
    }

    /// Writes a line to its block's file.
    ///
    /// - Returns: whether it is there.
    func write(_ frame: Frame) -> Bool {
        var failure: FileFailure?
        do throws(FileFailure) { try frame.journal.write(frame.bytes, at: Int64(frame.start)) } catch {
            failure = error
        }
        let failed = failure == nil ? nil : frame.number
        if frame.block.endWrite(failed: failed) { shared.withLock { $0.settled(frame.block) } }
        if let failure { diskFailed(failure) }
        return failure == nil
    }

    /// Notes that the disk failed, and tells it if it did not fail before.
    private func diskFailed(_ failure: FileFailure) {
        let (isNew, synchronizes) = shared.withLock { shared in
            let isNew = !replace(&shared.isDiskFailing, with: true)
            // Synchronizing also saves blocks that are in memory alone, as soon as that works.
            return (isNew, !shared.isStopped && !replace(&shared.isSynchronizing, with: true))
        }
        if isNew { listeners.tell(.trouble("\(failure); points are held in memory alone.")) }
        if synchronizes { scheduleSynchronization() }
    }

    /// Saves what is held in memory alone, as far as the disk has room for it.
    func saveUnsaved() throws(FileFailure) {
        var failure: FileFailure?
        for parcel in shared.withLock({ $0.unsavedParcels }) {
            let saved: LineBlock
            switch parcel.content {
            case .stored: continue
            case .block(let block):
                saved = try store.make(HeapMemory(capacity: max(1, block.used)), points: block.points)
                block.forEachLine { _ = saved.append($0) }
            case .batch(let batch, _, let unsaved):
                let room = batch.byteCount(of: unsaved) + unsaved.count * LineFrame.headLength
                saved = try store.make(HeapMemory(capacity: max(1, room)), points: unsaved.count)
                batch.bytes.withUnsafeBytes { bytes in
                    for line in unsaved.lines {
                        _ = saved.append(UnsafeRawBufferPointer(rebasing: bytes[batch.range(of: line)]))
                    }
                }
            }
            var useless = saved.file
            do throws(FileFailure) {
                try saved.save()
                // A line that was flushed to the disk long ago must not be lost with the file that it was in.
                if !parcel.content.files.isEmpty, let file = saved.file {
                    try store.sync(file)
                    try store.syncFolder()
                }
                useless = shared.withLock { $0.keep(saved, of: parcel) }
            } catch {
                // There may be room for a smaller one.
                failure = error
            }
            remove(useless.map { [$0] } ?? [])
        }
        if let failure { throw failure }
    }

    /// Whether lines of a block that is being filled are in memory alone.
    private var isAnyOpenBlockUnsaved: Bool {
        stripes.contains { $0.withLock { $0.block.map { $0.file == nil || $0.isBroken } ?? false } }
    }

    // MARK: What an earlier launch left

    /// Takes up what was found, to be sent first.
    func takeUp(_ remains: JournalStore.Remains) {
        let synchronizes = shared.withLock { shared in
            for (file, points, bytes, size) in remains.blocks {
                shared.statistics.accepted += points
                shared.batching.recover(
                    Parcel(
                        number: 0, points: points, bytes: bytes, room: WriterShared.roomOnDisk(size),
                        precision: file.precision, content: .stored(file)))
            }
            // The process before may have ended before it flushed them.
            shared.unsynchronized += remains.blocks.map(\.file) + remains.unread
            shared.isSynchronizing = !shared.unsynchronized.isEmpty
            return shared.isSynchronizing
        }
        if synchronizes { scheduleSynchronization() }
        if !remains.blocks.isEmpty { listeners.tell(.found(files: remains.blocks.count)) }
        for (name, bytes) in remains.damaged { listeners.tell(.damaged(file: name, bytes: bytes)) }
        let foreign = remains.foreign
        if foreign.count > 0 { listeners.tell(.foreignFiles(count: foreign.count, names: foreign.names)) }
        tell(forgotten: remains.forgotten)
        for trouble in remains.troubles { listeners.tell(.trouble("\(trouble)")) }
        advance()
    }

    // MARK: Flushing to the disk

    /// Notes that a point has come while none waited.
    func wake(at now: TimerInstant) {
        let synchronizes = shared.withLock { shared in
            shared.batching.firstCame(at: now)
            shared.synchronizationRequests += 1
            guard isDurable, !shared.isStopped else { return false }
            return !replace(&shared.isSynchronizing, with: true)
        }
        if synchronizes { scheduleSynchronization() }
    }

    private func scheduleSynchronization() {
        timers.schedule(after: synchronization) { [weak self] in
            guard let self else { return }
            queue.async { self.synchronize() }
        }
    }

    /// Saves what is held in memory alone, once time has passed.
    func saveLater() {
        let begins = shared.withLock { shared in
            shared.synchronizationRequests += 1
            return !shared.isStopped && !replace(&shared.isSynchronizing, with: true)
        }
        if begins { scheduleSynchronization() }
    }

    /// Flushes to the disk what was written since the last time, and repeats that until nothing new is written.
    func synchronize() {
        // Afterwards the directory may be another writer's.
        guard !shared.withLock(\.isStopped) else { return }
        let requests = shared.withLock(\.synchronizationRequests)
        var wasAnything = true
        do throws(FileFailure) {
            let synchronized = Result { () throws(FileFailure) in try synchronizeFiles() }
            // What is in memory alone does not wait for a file that cannot be flushed.
            try saveUnsaved()
            wasAnything = try synchronized.get()
            // With the rest, now that the disk works.
            if isAnyOpenBlockUnsaved {
                gather()
                try saveUnsaved()
            }
            let isUnsaved = isAnyOpenBlockUnsaved
            let works = shared.withLock { shared in
                let wasFailing = replace(&shared.isDiskFailing, with: isUnsaved && shared.isDiskFailing)
                return wasFailing && !shared.isDiskFailing
            }
            if works { room.open() }
        } catch {
            diskFailed(error)
            // The files that are open have no name any more. What comes is told to be in memory.
            if error.isWithoutDirectory {
                gather()
                loseDirectory()
            }
        }
        let goesOn = shared.withLock { shared in
            let isDone =
                !wasAnything && shared.unsynchronized.isEmpty && shared.synchronizationRequests == requests
                && !shared.isDiskFailing
            shared.isSynchronizing = !isDone && !shared.isStopped
            return shared.isSynchronizing
        }
        if goesOn { scheduleSynchronization() }
        // What was handed in may be enough for a batch.
        advance()
    }

    /// Notes that the directory was deleted while it was in use.
    func loseDirectory() {
        // Blocks that were to be filled are let go of outside the lock.
        _ = shared.withLock { $0.loseDirectory() }
    }

    /// Flushes to the disk what was written since the last time; returns whether there was anything.
    @discardableResult
    func synchronizeFiles() throws(FileFailure) -> Bool {
        let files = shared.withLock { $0.takeUnsynchronized() }
        let open = openBlocks()
        var (again, failure): ([BlockFile], FileFailure?) = ([], nil)
        for file in files {
            // One that cannot be flushed does not keep the others from it.
            do throws(FileFailure) { try store.sync(file) } catch { (again, failure) = (again + [file], error) }
        }
        var flushed: [(block: LineBlock, bytes: Int)] = []
        for (block, journal, bytes) in open {
            do throws(FileFailure) {
                try journal.sync()
                flushed.append((block, bytes))
            } catch {
                failure = error
            }
        }
        if !files.isEmpty || !open.isEmpty {
            // Without their names, they are nothing.
            do throws(FileFailure) { try store.syncFolder() } catch { (again, flushed, failure) = (files, [], error) }
        }
        shared.withLock { $0.unsynchronized += again }
        for (block, bytes) in flushed { block.synchronized.store(bytes, ordering: .relaxed) }
        if let failure { throw failure }
        return !files.isEmpty || !open.isEmpty
    }

    /// The blocks that are being filled and have bytes that were not flushed to the disk, with their files, and how many of their bytes
    /// are in these.
    ///
    /// The next write to one of them schedules another synchronization.
    private func openBlocks() -> [(block: LineBlock, journal: any DurableFile, bytes: Int)] {
        stripes.compactMap { stripe in
            stripe.withLock { stripe in
                stripe.isQuiet = true
                guard let block = stripe.block, let journal = block.journal,
                    block.synchronized.load(ordering: .relaxed) < block.used
                else { return nil }
                // A line that is on its way to the file is flushed the next time.
                return (block, journal, block.isSettled ? block.used : block.synchronized.load(ordering: .relaxed))
            }
        }
    }
}
