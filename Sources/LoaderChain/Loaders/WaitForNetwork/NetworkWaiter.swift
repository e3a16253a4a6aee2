/// A task that waits for a network, and leaves when it is cancelled or completed before.
final class NetworkWaiter: HTTPTaskObserver, @unchecked Sendable {
    /// Its place among those that wait; set before it listens.
    var place = QueuePlace.nowhere

    private let loader: WaitForNetwork
    private let isMeasured: Bool
    private let limit = Locked(Limit.none)
    // Written while nothing else knows of it, and taken once, by what has taken this out of the queue.
    private var task: HTTPTask?

    /// What ends the wait after its time.
    private enum Limit: Sendable {
        case none
        case timer(any ScheduledTimer)
        /// The wait has ended, so none is needed.
        case over
    }

    init(_ task: HTTPTask, of loader: WaitForNetwork) {
        self.loader = loader
        self.task = task
        isMeasured = task.beginWait()
    }

    /// Keeps what ends the wait, which may have ended already.
    func keep(_ timer: any ScheduledTimer) {
        let isOver = limit.withLock { limit in
            if case .over = limit { return true }
            limit = .timer(timer)
            return false
        }
        if isOver { timer.cancel() }
    }

    /// Ends the wait, and returns the task; to be called once, by what has taken this out of the queue.
    @discardableResult
    func end() -> HTTPTask? {
        if case .timer(let timer) = limit.withLock({ replace(&$0, with: .over) }) { timer.cancel() }
        if isMeasured { task?.endWait() }
        return replace(&task, with: nil)
    }

    func taskWasCancelled(_ task: HTTPTask) {
        if loader.remove(self), let task = end() { loader.fail(task, .cancelled) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        // A loader above has ended it.
        if loader.remove(self) { end() }
    }
}
