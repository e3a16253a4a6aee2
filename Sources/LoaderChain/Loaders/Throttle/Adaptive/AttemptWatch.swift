/// Shows a ``Throttle`` with an adaptive limit what is really sent.
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
    // The throttle is not held: it holds this loader, as the upper end of the chain.
    private let finders: LimitFinders?

    /// Makes a watch for a throttle; one for a throttle without an adaptive limit only passes tasks on.
    public init(_ throttle: Throttle) {
        finders = throttle.finders
        finders?.haveWatch.store(true, ordering: .relaxed)
    }

    /// Watches the task and passes it on.
    public override func load(task: HTTPTask) {
        if let finders, task.option(ThrottleOption.self) == .always { finders.watch(task) }
        super.load(task: task)
    }
}
