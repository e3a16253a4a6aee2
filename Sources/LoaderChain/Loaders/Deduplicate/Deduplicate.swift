import Dispatch

/// Lets identical requests that are in flight at the same time share one execution.
///
/// Ten views that ask for the same image at once make one request, and each gets its response.
///
/// ```swift
/// let chain = ApplyEnvironment(environment: .production) --> Deduplicate() --> throttle --> retry --> terminal
/// ```
///
/// Put it below the loaders that write into requests, such as ``ApplyEnvironment``: only what is in the request tells one
/// from another. Put it above what is to be done once for all, such as ``Throttle`` and ``Retry``. A loader that adds the
/// same user's credentials to every request may stay below it.
///
/// Of a request's options only ``HTTPRequest/responseCheck``, ``HTTPRequest/basicCredentials`` and the type that it is to be
/// decoded as are compared. If a loader of yours further down tells requests apart by another one, give that a part in the
/// key.
///
/// By default two `GET` or `HEAD` requests with the same address and the same headers are the same; see
/// ``Key/standard(for:ignoring:)``. A request's ``HTTPRequest/deduplication`` has the last word.
///
/// The shared execution is a task of its own. A follower that is cancelled completes at once and disturbs nobody; when
/// all are, the execution is cancelled, and a newcomer starts another one without waiting for its end. Everybody gets the
/// very same result, in which ``HTTPResponse/request`` is the one that was sent: the first follower's. A reset ends the
/// followers with ``HTTPError/Code/resetInProgress``, and waits until the executions have stopped.
public final class Deduplicate: HTTPLoader, @unchecked Sendable {
    private let key: @Sendable (HTTPRequest) -> Key?
    private let followers = Followers()

    /// Makes a loader that takes requests for the same by `key`, which returns nil for those that are never shared; by
    /// default by ``Key/standard(for:ignoring:)``.
    public init(key: @escaping @Sendable (HTTPRequest) -> Key? = { Key.standard(for: $0) }) {
        self.key = key
    }

    /// Lets the task follow the execution of its request, which is started if there is none.
    public override func load(task: HTTPTask) {
        let request = task.request
        guard let key = key(of: request) else { return super.load(task: task) }
        guard let (flight, execution) = followers.join(task, as: key, request) else { return }
        let handle = execution.makeChainHandle()
        // Keeps this loader, and with it those below, until the end. It is on the task that travels, so that a reset hears
        // of the end after it is noted here.
        handle.addCompletionHandler { self.followers.complete(flight, with: $0) }
        super.load(task: handle)
    }

    /// Ends all who follow, and finishes when every execution has stopped.
    public override func reset(with group: DispatchGroup) {
        let (left, executions) = followers.leaveAll()
        for execution in executions {
            group.enter()
            execution.addCompletionHandler { group.leave() }
            execution.cancel()
        }
        for follower in left { fail(follower, .resetInProgress) }
        super.reset(with: group)
    }

    /// How many executions are under way, and for how many tasks.
    public override var details: String {
        let (executions, tasks) = followers.counts
        return "executions \(executions), for \(tasks) tasks"
    }

    private func key(of request: HTTPRequest) -> Key? {
        switch request.deduplication {
        case .never: nil
        case .shared(let key): key
        case .automatic: key(request)
        }
    }
}
