/// Shows a ``Throttle`` with an adaptive limit, or a ``Hedge``, what is really sent.
///
/// ```swift
/// let throttle = Throttle(limit: .adaptive())
/// let chain =
///     throttle --> Retry(.exponential(delay: 0.5, maximumNumberOfAttempts: 3))
///     --> AttemptWatch(throttle) --> terminal
/// ```
///
/// **What it is for.** A throttle stands above ``Retry``, so it sees only the last result of a task, after all pauses. The
/// limit should follow each attempt, since a server that refuses every other attempt has too much to do, however well the
/// retries hide it. Without a watch, the throttle judges by what it sees itself; that is enough if nothing below it waits or
/// repeats.
///
/// **Where it belongs.** Below every loader that waits or makes attempts, such as ``Retry``, an authorizer or ``RateLimit``,
/// and above the terminal. It passes the tasks on unchanged.
public final class AttemptWatch: HTTPLoader, @unchecked Sendable {
    private let watcher: (any AttemptWatcher)?

    /// Makes a watch for a throttle; if the throttle has no adaptive limit, the watch only passes tasks on.
    public convenience init(_ throttle: Throttle) {
        throttle.finders?.haveWatch.store(true, ordering: .relaxed)
        self.init(for: throttle.finders)
    }

    /// Makes a watch for the object by which a loader further up judges attempts.
    ///
    /// That loader itself is not held: it holds this one, as the upper end of the chain.
    init(for watcher: (any AttemptWatcher)?) { self.watcher = watcher }

    public override func load(task: HTTPTask) {
        if let watcher { watcher.watchAttempt(task) }
        super.load(task: task)
    }
}

/// Judges attempts for a loader further up, without a reference to a loader.
protocol AttemptWatcher: AnyObject, Sendable {
    /// Watches an attempt that is about to be passed on.
    func watchAttempt(_ task: HTTPTask)
}

extension LimitFinders: AttemptWatcher {
    func watchAttempt(_ task: HTTPTask) {
        guard task.option(ThrottleOption.self) == .always else { return }
        noteSeen()
        watch(task)
    }
}

/// The end of an attempt, as evidence of how many the server can take at once.
///
/// | End | Outcome |
/// |---|---|
/// | 429, 503, 504, also beneath an error | pushed back |
/// | any other status from 200 to 499, but 408 and 425, also beneath an error | served |
/// | any other status: the server failed, which has nothing to do with how much it is asked | nothing |
/// | ``HTTPError/Code/timedOut`` and ``HTTPError/Code/connectionLost`` without a response | pushed back |
/// | a cancel, or a deadline that has passed, before any response, after however short a time | given up |
/// | any other error: a reset, an early refusal for a deadline, a refusal of a loader, no network, no such host, no trust | nothing |
package enum AttemptOutcome: Hashable, Sendable {
    /// The server has answered after its work.
    case served
    /// The server could not take it.
    case pushedBack
    /// The caller has left before the server had answered.
    case givenUp
    case nothing

    init(_ result: HTTPResult, of task: HTTPTask) {
        switch result {
        case .success(let response): self.init(response.status)
        case .failure(let error): self.init(error, of: task)
        }
    }

    private init(_ status: HTTPStatus) {
        switch status.rawValue {
        case 429, 503, 504: self = .pushedBack
        case 408, 425: self = .nothing
        case 200..<500: self = .served
        default: self = .nothing
        }
    }

    @inline(never)
    private init(_ error: HTTPError, of task: HTTPTask) {
        // The task was given up. If something had arrived by then, its time is not known any more.
        switch ResultMeaning(error.code) {
        case .stopped, .outOfTime: self = error.isGivenUp(task) ? .givenUp : .nothing
        case let meaning:
            if let response = error.response {
                self.init(response.status)
            } else {
                self = meaning == .lost ? .pushedBack : .nothing
            }
        }
    }
}
