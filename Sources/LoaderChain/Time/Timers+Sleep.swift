extension Timers {
    /// Suspends the current Swift task for `duration`; returns at once if that is zero or less.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled. No timer is left then.
    public func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        let isOver = Awaited(false)
        let timer = schedule(after: duration) { isOver.change { $0 = true } }
        guard await isOver.wait(for: { $0 ? true : nil }) != nil else {
            timer.cancel()
            throw CancellationError()
        }
    }
}
