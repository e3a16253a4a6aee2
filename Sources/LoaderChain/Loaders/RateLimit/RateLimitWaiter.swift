/// A task that waits for its token, and leaves the line when it is cancelled.
///
/// It has the task only while that waits: a task that is passed on must be nobody's here.
final class RateLimitWaiter: HTTPTaskObserver, LineEntry, @unchecked Sendable {
    var place = LinePlace<RateLimitWaiter>()
    /// The lane that it stands in.
    let host: String?

    private let limit: RateLimit
    // Written while it is in nobody's reach, and taken once by whoever took it out of the line.
    private var task: HTTPTask?
    private let isMeasured: Bool

    init(_ task: HTTPTask, for host: String?, at limit: RateLimit) {
        self.task = task
        self.host = host
        self.limit = limit
        isMeasured = task.beginWait()
    }

    /// Gives the task away; to be called by the one who took this out of the line.
    func takeTask() -> HTTPTask? {
        if isMeasured { task?.endWait() }
        return exchange(&task, with: nil)
    }

    func taskWasCancelled(_ task: HTTPTask) {
        if limit.removeFromLine(self) { limit.fail(task, .cancelled) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        // A loader above has ended it: whoever comes next gets the token.
        _ = limit.removeFromLine(self)
    }
}
