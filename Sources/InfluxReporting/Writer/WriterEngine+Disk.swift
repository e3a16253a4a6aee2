import DurableFiles
import LoaderChain

/// What a writer with a directory does on the disk, but for the lines that it takes.
extension WriterEngine {
    /// Notes that the disk failed, and tells it if it did not fail before.
    func diskFailed(_ failure: FileFailure) {
        let (isNew, synchronizes) = state.withLock { state in
            let isNew = !replace(&state.isDiskFailing, with: true)
            // Synchronizing also saves lines that are in memory alone, as soon as that works.
            return (isNew, state.beginSynchronizing())
        }
        if isNew { listeners.tell(.trouble("\(failure); points are held in memory alone.")) }
        if synchronizes { scheduleSynchronization() }
    }

    /// Saves what is held in memory alone, as far as the disk has room for it.
    func saveUnsaved() throws(FileFailure) {
        guard let store else { return }
        var failure: FileFailure?
        for parcel in state.withLock({ $0.batching.unsavedParcels }) {
            guard let block = parcel.block else { continue }
            let journal = store.begin()
            var useless = [journal.file]
            do throws(FileFailure) {
                try journal.write(block)
                // A line that was flushed to the disk long ago must not be lost with the file that it was in.
                if parcel.unsaved.count < parcel.points {
                    try store.sync(journal.file)
                    try store.syncFolder()
                }
                useless = state.withLock { $0.keep(journal.file, of: parcel) }
                openRoom()
            } catch {
                // There may be room for a smaller one.
                failure = error
            }
            remove(useless)
        }
        if let failure { throw failure }
    }

    // MARK: What an earlier launch left

    /// Takes up what was found, to be sent first.
    func takeUp(_ remains: JournalStore.Remains) {
        let synchronizes = state.withLock { state in
            for (file, points, bytes, size) in remains.blocks {
                state.statistics.accepted += points
                state.batching.recover(
                    Parcel(
                        number: 0, points: points, bytes: bytes, room: state.batching.limits.room(of: size),
                        precision: file.precision, files: [file]))
            }
            // The process before may have ended before it flushed them.
            state.unsynchronized += remains.blocks.map(\.file) + remains.unread
            return !state.unsynchronized.isEmpty && state.beginSynchronizing()
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

    func scheduleSynchronization() {
        timers.schedule(after: synchronization) { [weak self] in
            guard let self else { return }
            queue.async { self.synchronize() }
        }
    }

    /// Flushes to the disk what was written since the last time, and saves what is in memory alone.
    func synchronize() {
        // Afterwards the directory may be another writer's.
        guard !state.withLock(\.isStopped) else { return }
        do throws(FileFailure) {
            let synchronized = Result { () throws(FileFailure) in try synchronizeFiles() }
            // What is in memory alone does not wait for a file that cannot be flushed.
            try saveUnsaved()
            try synchronized.get()
            // With what is being collected, now that the disk works.
            let isMore = state.withLock { state in
                guard !state.batching.open.unsaved.isEmpty else { return false }
                state.batching.seal()
                return true
            }
            if isMore { try saveUnsaved() }
            let works = state.withLock { state in
                let isUnsaved = !state.batching.open.unsaved.isEmpty
                let wasFailing = replace(&state.isDiskFailing, with: state.isDiskFailing && isUnsaved)
                return wasFailing && !state.isDiskFailing
            }
            if works { openRoom() }
        } catch {
            diskFailed(error)
            // The files that are open have no name any more. What comes is told to be in memory.
            if error.isWithoutDirectory { state.withLock { $0.loseDirectory() } }
        }
        if state.withLock({ $0.goesOnSynchronizing() }) { scheduleSynchronization() }
        // What was sealed may be enough for a batch.
        advance()
    }

    /// Flushes to the disk what was written since the last time.
    ///
    /// A line that is on its way to its file is flushed the next time.
    func synchronizeFiles() throws(FileFailure) {
        guard let store else { return }
        let files = state.withLock { $0.takeUnsynchronized() }
        guard !files.isEmpty else { return }
        var (again, failure): ([BlockFile], FileFailure?) = ([], nil)
        for file in files {
            // One that cannot be flushed does not keep the others from it.
            do throws(FileFailure) { try store.sync(file) } catch { (again, failure) = (again + [file], error) }
        }
        // Without their names, they are nothing.
        do throws(FileFailure) { try store.syncFolder() } catch { (again, failure) = (files, error) }
        let left = Set(again)
        state.withLock { $0.unsynchronized = again + $0.unsynchronized.filter { !left.contains($0) } }
        if let failure { throw failure }
    }
}
