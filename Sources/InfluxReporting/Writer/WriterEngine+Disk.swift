import LoaderChain
import ReportOutbox

/// What a writer with a directory does on the disk.
extension WriterEngine {
    /// Makes a block; where the disk fails, one in memory.
    func makeBlock(room: Int, points: Int) -> LineBlock {
        do throws(FileFailure) {
            let block = try store.make(room: room, points: points)
            return block
        } catch {
            diskFailed(error)
            return LineBlock(HeapMemory(capacity: room), maximumPoints: points)
        }
    }

    /// Writes a line to its block's file.
    ///
    /// - Returns: whether it is there.
    func write(_ frame: Frame) -> Bool {
        defer { frame.block.writes.wrappingSubtract(1, ordering: .releasing) }
        do throws(FileFailure) {
            try frame.journal.write(frame.bytes, at: frame.start)
            return true
        } catch {
            shared.withLock { $0.statistics.unsaved += 1 }
            diskFailed(error)
            return false
        }
    }

    /// The disk failed; told when it begins to.
    private func diskFailed(_ failure: FileFailure) {
        let isNew = shared.withLock { !exchange(&$0.isDiskFailing, with: true) }
        if isNew { listeners.tell(.trouble("\(failure); points are held in memory alone.")) }
    }

    // MARK: What an earlier launch left

    /// Takes up what was found, to be sent first.
    func takeUp(_ remains: JournalStore.Remains) {
        shared.withLock { shared in
            for (file, points, bytes, size) in remains.blocks {
                shared.statistics.accepted += points
                shared.batching.recover(
                    Parcel(
                        number: 0, points: points, bytes: bytes, room: WriterShared.roomOnDisk(size),
                        precision: file.precision, content: .stored(file)))
                // The process before may have ended before it came to that.
                shared.unsynchronized.append(file)
            }
            shared.isSynchronizing = !remains.blocks.isEmpty
        }
        if !remains.blocks.isEmpty { scheduleSynchronization() }
        if !remains.blocks.isEmpty { listeners.tell(.found(files: remains.blocks.count)) }
        for (name, bytes) in remains.damaged { listeners.tell(.damaged(file: name, bytes: bytes)) }
        if !remains.foreign.isEmpty {
            let mostNames = 20
            listeners.tell(
                .foreignFiles(count: remains.foreign.count, names: Array(remains.foreign.prefix(mostNames))))
        }
        for name in remains.forgotten {
            listeners.tell(.trouble("“\(name)” was removed: \(DamagedFile.mostKept) newer damaged files are kept."))
        }
        for trouble in remains.troubles { listeners.tell(.trouble("\(trouble)")) }
        advance()
    }

    // MARK: Against a loss of power

    /// A point has come after a time in which none waited.
    func wake(at now: TimerInstant) {
        let synchronizes = shared.withLock { shared in
            shared.batching.firstCame(at: now)
            shared.synchronizationWishes += 1
            guard isDurable, !shared.isStopped else { return false }
            return !exchange(&shared.isSynchronizing, with: true)
        }
        if synchronizes { scheduleSynchronization() }
    }

    private func scheduleSynchronization() {
        timers.schedule(after: synchronization) { [weak self] in
            guard let self else { return }
            queue.async { self.synchronize() }
        }
    }

    /// Brings onto the disk itself what was written since the last time, and goes on until nothing is.
    func synchronize() {
        let (files, wishes) = shared.withLock { ($0.takeUnsynchronized(), $0.synchronizationWishes) }
        let journals = openJournals()
        do throws(FileFailure) {
            for file in files { try store.sync(file) }
            for journal in journals { try journal.sync() }
            if !files.isEmpty || !journals.isEmpty { try store.syncFolder() }
            shared.withLock { $0.isDiskFailing = false }
        } catch {
            diskFailed(error)
        }
        let goesOn = shared.withLock { shared in
            let isDone = files.isEmpty && journals.isEmpty && shared.synchronizationWishes == wishes
            shared.isSynchronizing = !isDone && !shared.isStopped
            return shared.isSynchronizing
        }
        if goesOn { scheduleSynchronization() }
    }

    /// The files of the blocks that are being filled, as far as something in them was not synchronized.
    ///
    /// Whoever writes to them from now on wakes us.
    private func openJournals() -> [any JournalFile] {
        stripes.compactMap { stripe in
            stripe.withLock { stripe in
                stripe.isQuiet = true
                guard let block = stripe.block, let journal = block.journal, block.synchronized < block.used else {
                    return nil
                }
                // A line that is on its way to the file is synchronized the next time.
                if block.writes.load(ordering: .acquiring) == 0 { block.synchronized = block.used }
                return journal
            }
        }
    }
}
