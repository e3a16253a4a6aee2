import DurableFiles
import LoaderChain

/// Sending at once, and waiting for what becomes of it.
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
                // A task is marked as cancelled before its handler runs, which may have found no waiter.
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
        // Nobody would end it any more.
        if isOver { waiter.end(with: FlushReport()) }
        advance()
    }

    private func giveUp(_ id: Int, because cause: FlushReport.KeepCause) {
        let ended = state.withLock { state in
            // What is in the way says more than that it took too long.
            let obstacle = cause == .deadline ? state.statistics.obstacle : nil
            return state.batching.giveUp(id, because: obstacle.map { .obstacle($0) } ?? cause)
        }
        if let (waiter, report) = ended { waiter.end(with: report) }
    }

    /// Stops taking points, sends those that it has, and ends.
    func shutDown(within limit: Duration) async -> FlushReport {
        // While points are still taken.
        reportDrops(atOnce: true)
        let before = state.withLock { state in
            replace(&state.isShutDown, with: true) ? nil : (state.statistics, state.ownDelivered, state.ownRejected)
        }
        guard let before else { return FlushReport() }
        var report = await flush(within: limit)
        // What is on its way is interrupted, and only its end tells what became of it.
        let sendings = state.withLock { state in
            state.isEnding = true
            return Array(state.sendings.values)
        }
        for sending in sendings { sending.cancel() }
        for sending in sendings { await sending.value }
        await settleRest()
        state.withLock { state in
            let (old, new) = (before.0, state.statistics)
            report.delivered = new.delivered - old.delivered - (state.ownDelivered - before.1)
            report.rejected = new.rejected - old.rejected - (state.ownRejected - before.2)
            report.dropped = [:]
            // What came too late was not the writer's.
            for (reason, count) in new.dropped where reason != .shutDown {
                report.note(count - (old.dropped[reason] ?? 0), reason)
            }
            report.kept = state.batching.heldPoints
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
                if store != nil { settleFiles() }
                let waiters = state.withLock { state in
                    var unsent = 0
                    let waiters = state.batching.end { unsent += $0 }
                    state.drop(unsent, .unsent)
                    state.isStopped = true
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
            try store?.syncFolder()
        } catch {
            if error.isWithoutDirectory { state.withLock { $0.loseDirectory() } }
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
