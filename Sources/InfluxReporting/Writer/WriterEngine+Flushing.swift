import DurableFiles
import LoaderChain

/// Flushing, waiting for the outcome, and shutting down.
extension WriterEngine {
    func flush(within limit: Duration) async -> FlushReport {
        let id = state.withLock { state in
            state.lastFlush += 1
            return state.lastFlush
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = FlushWaiter(continuation)
                begin(waiter, id: id)
                let due = timers.now.advanced(by: limit)
                waiter.alarm.set(on: timers, for: { waiter.isOver ? nil : due }) { [weak self] in
                    self?.giveUp(id, because: .deadline)
                }
                // A task is marked as cancelled before its handler runs, so the handler may have found no waiter.
                if Task.isCancelled { giveUp(id, because: .cancelled) }
            }
        } onCancel: {
            giveUp(id, because: .cancelled)
        }
    }

    private func begin(_ waiter: FlushWaiter, id: Int) {
        reportDrops(atOnce: true)
        let isOver = state.withLock { state in
            if !state.isStopped { state.batching.flush(waiter, id: id) }
            return state.isStopped
        }
        // A stopped writer ends no waiters.
        if isOver { waiter.end(with: FlushReport()) }
        advance()
    }

    private func giveUp(_ id: Int, because cause: FlushReport.PendingReason) {
        let ended = state.withLock { state in
            // The delivery failure says more than the deadline does.
            let failure = cause == .deadline ? state.statistics.lastFailure : nil
            return state.batching.giveUp(id, because: failure.map { .failure($0) } ?? cause)
        }
        if let (waiter, report) = ended { waiter.end(with: report) }
    }

    /// The least time that the end of a shutdown gets after the flush; longer than a loader may take to stop a cancelled request.
    static let leastTimeToEnd = Duration.seconds(15)

    /// Stops accepting points, sends those that it holds, and ends.
    func shutDown(within limit: Duration) async -> FlushReport {
        // While points are still accepted.
        reportDrops(atOnce: true)
        let before = state.withLock { state -> (WriterStatistics, Int, Int)? in
            if state.isShutDown { return nil }
            state.enter(.shutDown)
            return (state.statistics, state.ownDelivered, state.ownRejected)
        }
        guard let before else { return FlushReport() }
        let flushed = await flush(within: limit)
        let due = timers.now.advanced(by: max(limit, Self.leastTimeToEnd))
        return await withCheckedContinuation { continuation in
            let waiter = FlushWaiter(continuation)
            waiter.alarm.set(on: timers, for: { due }) { [self] in
                waiter.end(with: finalReport(flushed, since: before))
            }
            // In a task that nobody waits for if the disk hangs; the directory stays locked until the disk goes on.
            Task { [self] in
                await settleSendings()
                await settleRest()
                let report = finalReport(flushed, since: before)
                announceDrops(atOnce: true)
                stop()
                waiter.end(with: report)
            }
        }
    }

    /// The report of a shutdown: what has become of the points since it began, when the counts were `before`.
    private func finalReport(_ flushed: FlushReport, since before: (WriterStatistics, Int, Int)) -> FlushReport {
        var report = flushed
        state.withLock { state in
            let (old, new) = (before.0, state.statistics)
            report.delivered = new.delivered - old.delivered - (state.ownDelivered - before.1)
            report.rejected = new.rejected - old.rejected - (state.ownRejected - before.2)
            report.dropped = [:]
            // Points written after the shutdown began are not part of the report.
            for (reason, count) in new.dropped where reason != .shutDown {
                report.note(count - (old.dropped[reason] ?? 0), reason)
            }
            report.pending = state.batching.heldPoints
        }
        report.pendingReason = report.pending > 0 ? report.pendingReason ?? .deadline : nil
        return report
    }

    /// Cancels the requests in flight, and waits for their ends: the outcome of their lines is known only then.
    private func settleSendings() async {
        let sendings = state.withLock { state in
            state.enter(.ending)
            return Array(state.sendings.values)
        }
        for sending in sendings { sending.cancel() }
        for sending in sendings { await sending.value }
    }

    /// Saves the lines that are only in memory, and drops those that cannot be saved; files are left to the next writer.
    private func settleRest() async {
        await withCheckedContinuation { continuation in
            // All saving is done on this queue.
            queue.async { [self] in
                // If the writer was released while the disk hung, the directory may belong to another writer.
                if store != nil, !state.withLock(\.isStopped) { settleFiles() }
                let waiters = state.withLock { state in
                    var unsent = 0
                    let waiters = state.batching.end { unsent += $0 }
                    state.drop(unsent, .unsent)
                    state.enter(.stopped)
                    return waiters
                }
                for (waiter, report) in waiters { waiter.end(with: report) }
                continuation.resume()
            }
        }
    }

    private func settleFiles() {
        // A failure was reported before, or its points are reported as unsent.
        try? saveUnsaved()
        do throws(FileFailure) {
            try synchronizeFiles()
            try store?.syncFolder()
        } catch {
            if error.isWithoutDirectory { state.withLock { $0.loseDirectory() } }
        }
    }
}

/// A waiting flush or shutdown, with the alarm for its time limit.
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
