import Dispatch

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Tries requests again that came to nothing, as their strategy says.
///
/// ```swift
/// let chain = ResetGuard() --> Throttle() --> Retry(strategy: strategy) --> CircuitBreaker() --> terminal
///
/// var request = HTTPRequest(host: "api.example.com", path: "/users")
/// request.retryStrategy = Backoff.exponential(delay: 0.2, maximumNumberOfAttempts: 4)
/// ```
///
/// **Where it belongs.** Below what looks after a task as a whole, such as a throttle: a task that waits for its next
/// attempt keeps its place there, so that failures slow the program down instead of making it busier. Above what is to see
/// each attempt: credentials, a circuit breaker, a rate limit, metrics.
///
/// A request is tried again by its own ``HTTPRequest/retryStrategy``, or by the loader's; without either it passes
/// through untouched. Whatever the strategy says, there is no further attempt
/// - after a cancel, a reset, or an error that says ``HTTPError/Code/resetInProgress``;
/// - of a request that may not be repeated, which ``HTTPRequest/isRepeatable`` tells;
/// - with a body that cannot be sent again, which ``HTTPBody/canBeSentAgain`` tells;
/// - that would not begin before the deadline;
/// - when the ``RetryBudget`` is spent.
///
/// In all these cases the last result stands. It tells how many attempts there were. And no delay is shorter than the one
/// that the server asks for in a `Retry-After` header, up to a maximum.
///
/// A cancel during a delay completes the task at once, and a reset completes it as ``HTTPError/Code/resetInProgress`` with
/// the last response, or the last error beneath. A reset waits for the attempts that are running.
public final class Retry: HTTPLoader, @unchecked Sendable {
    let timers: any Timers
    let budget: RetryBudget
    private let strategy: (any HTTPRetryStrategy)?
    private let hasStrategy: Bool
    private let deadline: Duration?
    private let maximumRetryAfter: Duration
    private let runs = Guarded(LinkedQueue<RetryRun>())

    /// Makes a loader that retries.
    ///
    /// - Parameters:
    ///   - strategy: for requests that bring none; nil, the default, to pass those through.
    ///   - deadline: how long all attempts at a request may take together, delays included, unless the request says
    ///     otherwise; by default as long as they take. An attempt that is running by then is cancelled, and the task fails as
    ///     ``HTTPError/Code/timedOut``.
    ///   - maximumRetryAfter: how much of a server's wish to wait is granted at most; a minute by default.
    ///   - budget: what retries there may be altogether; nil for a ``RetryBudget`` of this loader's own.
    ///   - timers: the clock, and what waits.
    public init(
        strategy: (any HTTPRetryStrategy)? = nil, deadline: Duration? = nil,
        maximumRetryAfter: Duration = .seconds(60), budget: RetryBudget? = nil,
        timers: any Timers = SystemTimers.shared
    ) {
        self.strategy = strategy
        hasStrategy = strategy != nil
        self.deadline = deadline
        self.maximumRetryAfter = maximumRetryAfter
        self.budget = budget ?? RetryBudget(timers: timers)
        self.timers = timers
    }

    /// Passes a task on as often as it takes.
    public override func load(task: HTTPTask) {
        // A task without a strategy pays for one look at its request, and for no copy of what is not there.
        if let own = task.option(RetryOption.self) {
            begin(task, by: own)
        } else if hasStrategy, let strategy {
            begin(task, by: strategy)
        } else {
            super.load(task: task)
        }
    }

    @inline(never)
    private func begin(_ task: HTTPTask, by strategy: any HTTPRetryStrategy) {
        let request = task.request
        budget.noteRequest()
        let deadline = (request.retryDeadline ?? deadline).map { timers.now.advanced(by: $0) }
        let run = RetryRun(task, by: strategy, until: deadline, self)
        runs.withLock { run.place = $0.append(run) }
        run.begin(with: request)
    }

    /// Ends the delays, and waits for the attempts that are running.
    public override func reset(with group: DispatchGroup) {
        for run in runs.withLock({ $0.elements }) { run.reset(with: group) }
        super.reset(with: group)
    }

    /// How many tasks are on their way, how many of them wait for their next attempt, and what is left of the budget.
    public override var details: String {
        let runs = runs.withLock { $0.elements }
        let retries = budget.remaining.map { ", retries left \($0)" } ?? ""
        return "running \(runs.count), of these waiting \(runs.count(where: \.isPausing))\(retries)"
    }

    // MARK: For its runs

    /// Passes an attempt on.
    func pass(_ attempt: HTTPTask) { super.load(task: attempt) }

    /// Lets go of a run whose task has its result.
    func forget(_ run: RetryRun) {
        _ = runs.withLock { $0.remove(run.place) }
    }

    /// How long a response asks to wait, as far as that is granted.
    func delayAsked(by response: HTTPResponse?) -> Duration {
        min(maximumRetryAfter, RetryAfter.delay(of: response, now: timers.date))
    }
}
