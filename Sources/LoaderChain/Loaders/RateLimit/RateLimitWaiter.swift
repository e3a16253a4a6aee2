/// A task that waits for its token, and leaves its queue when it is cancelled or completed before.
final class RateLimitWaiter: HTTPTaskObserver, @unchecked Sendable {
    /// The host whose lane it waits in; nil for the common one.
    let lane: HTTPOrigin?
    /// Its place in the lane; set before it listens.
    var place = QueuePlace.nowhere

    private let limit: RateLimit
    private let isMeasured: Bool
    // Written while nothing else knows of it, and taken once, by what has taken this out of its lane.
    private var task: HTTPTask?

    init(_ task: HTTPTask, in lane: HTTPOrigin?, of limit: RateLimit) {
        self.lane = lane
        self.limit = limit
        self.task = task
        isMeasured = task.beginWait()
    }

    /// Ends the wait, and returns the task; to be called once, by what has taken this out of its lane.
    @discardableResult
    func end() -> HTTPTask? {
        if isMeasured { task?.endWait() }
        return replace(&task, with: nil)
    }

    func taskWasCancelled(_ task: HTTPTask) {
        if limit.remove(self), let task = end() { limit.fail(task, .cancelled) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        // A loader above has ended it: the next one gets the token.
        if limit.remove(self) { end() }
    }
}
