/// Shows a ``Throttle`` with an adaptive limit, or a ``Hedge``, what is really sent.
///
/// ```swift
/// let throttle = Throttle(limit: .adaptive())
/// let chain =
///     throttle --> Retry(strategy: Backoff.exponential(delay: 0.5, maximumNumberOfAttempts: 3))
///     --> AttemptWatch(throttle) --> terminal
/// ```
///
/// **What it is for.** A throttle stands above ``Retry``, so what it sees of a task is its last result, after all pauses. The
/// limit should follow each attempt, since a server that refuses every other one has too much to do, however well the retries
/// hide it. Without a watch, the throttle judges by what it sees itself; that is enough where nothing below it waits or repeats.
///
/// **Where it belongs.** Below whatever waits or makes attempts, such as ``Retry``, an authorizer or ``RateLimit``, and above
/// the terminal. It changes nothing about the tasks that it passes on.
public final class AttemptWatch: HTTPLoader, @unchecked Sendable {
    private let watcher: (any AttemptWatcher)?

    /// Makes a watch for a throttle; one for a throttle without an adaptive limit only passes tasks on.
    public convenience init(_ throttle: Throttle) {
        throttle.finders?.haveWatch.store(true, ordering: .relaxed)
        self.init(for: throttle.finders)
    }

    /// Makes a watch for what a loader further up judges attempts with.
    ///
    /// That loader itself is not held: it holds this one, as the upper end of the chain.
    init(for watcher: (any AttemptWatcher)?) { self.watcher = watcher }

    /// Watches the task and passes it on.
    public override func load(task: HTTPTask) {
        if let watcher { watcher.watchAttempt(task) }
        super.load(task: task)
    }
}

/// What judges attempts for a loader further up, and refers to none.
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
