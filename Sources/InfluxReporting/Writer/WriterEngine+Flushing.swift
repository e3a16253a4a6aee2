import DurableFiles
import LoaderChain

/// Sending at once, and waiting for what becomes of it.
extension WriterEngine {
    func flush(within limit: Duration) async -> FlushReport {
        let id = shared.withLock { shared in
            shared.lastFlush += 1
            return shared.lastFlush
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = FlushWaiter(continuation)
                begin(waiter, id: id)
                let due = timers.now.advanced(by: limit)
                waiter.alarm.set(on: timers, for: { waiter.isOver ? nil : due }) { [weak self] in
                    self?.giveUp(id, because: .deadline)
                }
                // A task is marked as cancelled before its handler runs, which may have found no waiter.
                if Task.isCancelled { giveUp(id, because: .cancelled) }
            }
        } onCancel: {
            giveUp(id, because: .cancelled)
        }
    }

    private func begin(_ waiter: FlushWaiter, id: Int) {
        reportDrops(atOnce: true)
        shared.withLock { $0.batching.beginGathering() }
        gather()
        let done = shared.withLock { shared in
            // Nobody would end it any more.
            guard !shared.isStopped else { return [(waiter, FlushReport())] }
            shared.batching.flush(waiter, id: id)
            return shared.batching.takeDone()
        }
        for (waiter, report) in done { waiter.end(with: report) }
        advance()
    }

    private func giveUp(_ id: Int, because cause: FlushReport.KeepCause) {
        let ended = shared.withLock { shared in
            // What is in the way says more than that it took too long.
            let obstacle = cause == .deadline ? shared.statistics.obstacle : nil
            return shared.batching.giveUp(id, because: obstacle.map { .obstacle($0) } ?? cause)
        }
        if let (waiter, report) = ended { waiter.end(with: report) }
    }

    /// Stops taking points, sends those that it has, and ends.
    func shutDown(within limit: Duration) async -> FlushReport {
        // While points are still taken.
        reportDrops(atOnce: true)
        let before = shared.withLock { shared in
            replace(&shared.isShutDown, with: true) ? nil : (shared.statistics, shared.ownDelivered, shared.ownRejected)
        }
        guard let before else { return FlushReport() }
        var report = await flush(within: limit)
        // What is on its way is interrupted, and only its end tells what became of it.
        let sendings = shared.withLock { shared in
            shared.isEnding = true
            return Array(shared.sendings.values)
        }
        for sending in sendings { sending.cancel() }
        for sending in sendings { await sending.value }
        await settleRest()
        shared.withLock { shared in
            let (old, new) = (before.0, shared.statistics)
            report.delivered = new.delivered - old.delivered - (shared.ownDelivered - before.1)
            report.rejected = new.rejected - old.rejected - (shared.ownRejected - before.2)
            report.dropped = [:]
            // What came too late was not the writer's.
            for (reason, count) in new.dropped where reason != .shutDown {
                report.note(count - (old.dropped[reason] ?? 0), reason)
            }
            report.kept = shared.batching.queue.points
        }
        report.keptBecause = report.kept > 0 ? report.keptBecause ?? .deadline : nil
        tellDrops(atOnce: true)
        stop()
        return report
    }

    /// Saves what is in memory alone, and gives up what cannot be saved; what is on the disk is left to the next writer.
    private func settleRest() async {
        await withCheckedContinuation { continuation in
            // Where all saving is done.
            queue.async { [self] in
                if isDurable { settleFiles() }
                let waiters = shared.withLock { shared in
                    var unsent = 0
                    let waiters = shared.batching.end { parcel in
                        let count = min(parcel.content.unsavedLines.count, parcel.points)
                        unsent += count
                        return count
                    }
                    shared.drop(unsent, .unsent)
                    shared.isStopped = true
                    return waiters
                }
                for (waiter, report) in waiters { waiter.end(with: report) }
                continuation.resume()
            }
        }
    }

    private func settleFiles() {
        // A failure was told, or is told as what is unsent.
        try? saveUnsaved()
        do throws(FileFailure) {
            try synchronizeFiles()
            try store.syncFolder()
        } catch {
            if error.isWithoutDirectory { loseDirectory() }
        }
    }
}

/// A waiting flush, with the alarm that ends the wait.
final class FlushWaiter: Sendable {
    let alarm = Alarm()
    private let continuation: Locked<CheckedContinuation<FlushReport, Never>?>

    init(_ continuation: CheckedContinuation<FlushReport, Never>) { self.continuation = Locked(continuation) }

    var isOver: Bool { continuation.withLock { $0 == nil } }

    func end(with report: FlushReport) {
        let continuation = continuation.withLock { replace(&$0, with: nil) }
        alarm.end()
        continuation?.resume(returning: report)
    }
}
