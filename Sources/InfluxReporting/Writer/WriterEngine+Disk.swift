import DurableFiles
import LoaderChain

/// The disk work of a writer with a directory, except for writing new lines.
extension WriterEngine {
    /// Records that the disk failed, and reports it unless it was failing already.
    func diskFailed(_ failure: FileFailure) {
        let (isNew, synchronizes) = state.withLock { state in
            let isNew = !replace(&state.isDiskFailing, with: true)
            // Synchronizing also saves lines that are only in memory, as soon as the disk works again.
            return (isNew, state.beginSynchronizing())
        }
        if isNew { emit(.trouble("\(failure). Points are held in memory only.")) }
        if synchronizes { scheduleSynchronization() }
    }

    /// Saves the lines that are only in memory, as far as the disk has space.
    func saveUnsaved() throws(FileFailure) {
        guard let store else { return }
        var failure: FileFailure?
        for parcel in state.withLock({ $0.batching.unsavedParcels }) {
            guard let block = parcel.block else { continue }
            let journal = store.begin()
            var useless = [journal.file]
            do throws(FileFailure) {
                try journal.write(block)
                // Some lines of the parcel may have been flushed to the disk in their old file, which is removed below.
                if parcel.unsaved.count < parcel.points {
                    try store.sync(journal.file)
                    try store.syncFolder()
                }
                useless = state.withLock { $0.keep(journal.file, of: parcel) }
                noteFreedSpace()
            } catch {
                // There may be space for a smaller parcel.
                failure = error
            }
            remove(useless)
        }
        if let failure { throw failure }
    }

    // MARK: Points of an earlier launch

    /// Takes over the points that an earlier launch left, to be sent first.
    func takeUp(_ remains: JournalStore.Remains) {
        let synchronizes = state.withLock { state in
            for (file, points, bytes, size) in remains.blocks {
                state.statistics.accepted += points
                state.batching.recover(
                    Parcel(
                        number: 0, points: points, bytes: bytes, footprint: state.batching.limits.footprint(of: size),
                        precision: file.precision, files: [file]))
            }
            // The earlier process may have ended before it flushed them.
            state.unsynchronized += remains.blocks.map(\.file) + remains.unread
            return !state.unsynchronized.isEmpty && state.beginSynchronizing()
        }
        if synchronizes { scheduleSynchronization() }
        if !remains.blocks.isEmpty { emit(.found(files: remains.blocks.count)) }
        for (name, bytes) in remains.damaged { emit(.damaged(file: name, bytes: bytes)) }
        let foreign = remains.foreign
        if foreign.count > 0 { emit(.foreignFiles(count: foreign.count, names: foreign.names)) }
        reportRemoved(remains.removed)
        for trouble in remains.troubles { emit(.trouble("\(trouble)")) }
        advance()
    }

    // MARK: Flushing to the disk

    func scheduleSynchronization() {
        // A disk that is full stays so for a while.
        let wait = state.withLock(\.isDiskFailing) ? max(synchronization, .seconds(1)) : synchronization
        timers.schedule(after: wait) { [weak self] in
            guard let self else { return }
            queue.async { self.synchronize() }
        }
    }

    /// Flushes the files that were written to since the last time, and saves the lines that are only in memory.
    func synchronize() {
        // After the end, the directory may belong to another writer.
        guard !state.withLock(\.isStopped) else { return }
        do throws(FileFailure) {
            let synchronized = Result { () throws(FileFailure) in try synchronizeFiles() }
            // Lines that are only in memory do not wait for a file that cannot be flushed.
            try saveUnsaved()
            try synchronized.get()
            // The disk works, so the parcel that is being collected is saved too.
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
            if works { noteFreedSpace() }
        } catch {
            diskFailed(error)
            // The open files no longer have names. From now on, writing a point returns `inMemory`.
            if error.isWithoutDirectory { state.withLock { $0.loseDirectory() } }
        }
        if state.withLock({ $0.goesOnSynchronizing() }) { scheduleSynchronization() }
        // The sealed parcels may be enough for a batch.
        advance()
    }

    /// Flushes the files that were written to since the last time; a line that is being written is flushed the next time.
    func synchronizeFiles() throws(FileFailure) {
        guard let store else { return }
        let files = state.withLock { $0.takeUnsynchronized() }
        guard !files.isEmpty else { return }
        var (again, failure): ([BlockFile], FileFailure?) = ([], nil)
        for file in files {
            // The other files are flushed although one failed.
            do throws(FileFailure) { try store.sync(file) } catch { (again, failure) = (again + [file], error) }
        }
        // Files are lost unless their names are on the disk too.
        do throws(FileFailure) { try store.syncFolder() } catch { (again, failure) = (files, error) }
        let left = Set(again)
        state.withLock { $0.unsynchronized = again + $0.unsynchronized.filter { !left.contains($0) } }
        if let failure { throw failure }
    }
}
