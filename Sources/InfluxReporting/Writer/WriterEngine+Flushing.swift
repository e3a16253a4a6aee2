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
                waiter.keep(timers.schedule(after: limit) { [weak self] in self?.giveUp(id, because: .deadline) })
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
        let isFirst = shared.withLock { !replace(&$0.isShutDown, with: true) }
        guard isFirst else { return FlushReport() }
        var report = await flush(within: limit)
        let unsent = shared.withLock { shared in
            let kept = shared.batching.takeAll().filter(\.content.files.isEmpty)
            let unsent = kept.reduce(0) { $0 + $1.points }
            shared.drop(unsent, .unsent)
            return unsent
        }
        report.kept -= min(unsent, report.kept)
        if report.kept == 0 { report.keptBecause = nil }
        report.note(unsent, .unsent)
        tellDrops(atOnce: true)
        stop()
        return report
    }
}
