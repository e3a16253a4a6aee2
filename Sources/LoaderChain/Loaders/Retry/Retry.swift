import Dispatch
import LoaderChainPlatformFoundation

/// Retries requests that failed, as their strategy says.
///
/// ```swift
/// let chain = ResetGuard() --> Throttle() --> Retry() --> CircuitBreaker() --> terminal
///
/// let users: [User] = try await chain.load(.get("users")) { $0.retryStrategy = .exponential(maximumNumberOfAttempts: 5) }
/// ```
///
/// **Where it belongs.** Below loaders that are concerned with a task as a whole, such as a throttle: a task that waits
/// for its next attempt keeps its slot there, so that failures slow the program down instead of making it busier. Above
/// loaders that should see each attempt: credentials, a circuit breaker, a rate limit, metrics.
///
/// A request is retried by its own ``HTTPRequest/retryStrategy``, or by the loader's. Whatever the strategy says, there is no
/// further attempt
/// - after a cancel, a reset, or an error that says ``HTTPError/Code/resetInProgress``;
/// - of a request that may not be repeated, according to ``HTTPRequest/isRepeatable``;
/// - with a body that cannot be sent again, according to ``HTTPBody/canBeSentAgain``;
/// - that would not begin before the request's ``HTTPRequest/deadline``;
/// - when the ``RetryBudget`` is spent.
///
/// In all these cases the last result is the task's, with the number of attempts; the last four are counted in ``readings``. No
/// delay is shorter than the one that the server requests in a `Retry-After` header, up to a maximum.
///
/// A cancel during a delay completes the task at once, and a reset completes it with
/// ``HTTPError/Code/resetInProgress``, which has the last response, or the last error as its underlying error. A reset waits for the
/// attempts that are running.
public final class Retry: HTTPLoader, @unchecked Sendable {
    let timers: any Timers
    let budget: RetryBudget
    private let strategy: (any HTTPRetryStrategy)?
    private let hasStrategy: Bool
    private let totalTimeout: Duration?
    private let maximumRetryAfter: Duration
    private let runs = Locked(LinkedQueue<RetryRun>())
    /// How many attempts were decided on after the first.
    let retries = Tally()
    /// How many attempts that a strategy wanted were not made, by the reason.
    let suppressed = Dictionary(uniqueKeysWithValues: SuppressedRetry.allCases.map { ($0, Tally()) })

    /// Makes a loader that retries.
    ///
    /// - Parameters:
    ///   - strategy: the strategy for requests without their own; nil to retry only those that have one. By default there are
    ///     three attempts, with random delays between them: up to 50 ms and 100 ms, or up to one second and two if the server
    ///     refuses requests because it gets too many.
    ///   - totalTimeout: the time limit of all attempts of a request together, including delays, unless its
    ///     ``HTTPRequest/totalTimeout`` says otherwise; by default unlimited. It sets the request's
    ///     ``HTTPRequest/deadline`` to this long after its arrival, unless that is earlier already.
    ///   - maximumRetryAfter: the longest delay that a server can request; a minute by default.
    ///   - budget: limits the retries of all requests; nil for a ``RetryBudget`` of this loader's own.
    ///   - timers: the clock and the timers of the delays.
    public init(
        _ strategy: (any HTTPRetryStrategy)? = .exponential(), totalTimeout: Duration? = nil,
        maximumRetryAfter: Duration = .seconds(60), budget: RetryBudget? = nil,
        timers: any Timers = SystemTimers.shared
    ) {
        self.strategy = strategy
        hasStrategy = strategy != nil
        self.totalTimeout = totalTimeout
        self.maximumRetryAfter = maximumRetryAfter
        self.budget = budget ?? RetryBudget(timers: timers)
        self.timers = timers
    }

    public override func load(task: HTTPTask) {
        // A task without a strategy costs two reads of its request, and no copy.
        if let own = task.option(RetryOption.self) {
            begin(task, by: own)
        } else if hasStrategy, let strategy {
            begin(task, by: strategy)
        } else {
            limitTime(of: task)
            super.load(task: task)
        }
    }

    private func limitTime(of task: HTTPTask) {
        guard let time = task.option(TotalTimeoutOption.self) ?? totalTimeout else { return }
        task.request.deadline = .after(time, on: timers)
    }

    @inline(never)
    private func begin(_ task: HTTPTask, by strategy: any HTTPRetryStrategy) {
        budget.noteRequest()
        limitTime(of: task)
        let run = RetryRun(task, by: strategy, self)
        runs.withLock { run.place = $0.append(run) }
        run.begin()
    }

    /// Ends the delays, and waits for the attempts that are running.
    public override func reset(with group: DispatchGroup) {
        for run in runs.withLock({ $0.elements }) { run.reset(with: group) }
        super.reset(with: group)
    }

    /// Forgets the reset, though attempts are running that it has waited for.
    public override func resetTimedOut(with group: DispatchGroup) {
        for run in runs.withLock({ $0.elements }) { run.giveUpReset(of: group) }
        super.resetTimedOut(with: group)
    }

    public override var details: String {
        let runs = runs.withLock { $0.elements }
        let retries = budget.remaining.map { ", retries left \($0)" } ?? ""
        return "running \(runs.count), of these waiting \(runs.count(where: \.isPausing))\(retries)"
    }

    /// How many tasks are running and pausing, how many retries there were, and what is left of the budget.
    public override var readings: [LoaderReading] {
        let runs = runs.withLock { $0.elements }
        let counts: [LoaderReading] = [
            .level("retry.running", runs.count, "How many requests are retried if they fail"),
            .level("retry.waiting", runs.count(where: \.isPausing), "How many requests wait for their next attempt"),
            .counter(
                "retry.retries", retries.count, unit: "{attempt}", "How many attempts were decided on after the first"),
        ]
        let suppressed = SuppressedRetry.allCases.map { reason in
            LoaderReading.counter(
                "retry.suppressed", self.suppressed[reason]?.count ?? 0, unit: "{attempt}",
                "How many attempts that a strategy wanted were not made", ["reason": reason.rawValue])
        }
        return counts + suppressed + budget.readings("retry")
    }

    // MARK: For its runs

    func pass(_ attempt: HTTPTask) { super.load(task: attempt) }

    func forget(_ run: RetryRun) {
        _ = runs.withLock { $0.remove(run.place) }
    }

    /// The delay that a response requests, up to the maximum.
    func delayAsked(by response: HTTPResponse?) -> Duration {
        min(maximumRetryAfter, RetryAfter.delay(of: response, now: timers.date))
    }
}

/// Why an attempt that a strategy wants is not made.
enum SuppressedRetry: String, CaseIterable, Sendable {
    /// The request has effects, which another attempt could repeat.
    case notRepeatable = "not-repeatable"
    /// The body cannot be sent again.
    case body
    /// The deadline comes before the next attempt.
    case deadline
    /// Other requests have spent the budget.
    case budget
}

/// The retry strategy of a request; nil, the default, for the strategy of the ``Retry`` loader.
package enum RetryOption: HTTPRequestOption {
    package static var defaultOptionValue: (any HTTPRetryStrategy)? { nil }
}

/// How long all attempts of a request may take together; nil, the default, for the limit of the ``Retry`` loader.
package enum TotalTimeoutOption: HTTPRequestOption {
    package static var defaultOptionValue: Duration? { nil }
}

/// Whether a request may be made more than once; nil, the default, to go by its method.
package enum RepeatabilityOption: HTTPRequestOption {
    package static var defaultOptionValue: Bool? { nil }
}

extension HTTPRequest {
    /// The retry strategy of the request; nil for the strategy of the ``Retry`` loader.
    ///
    /// Use ``HTTPRetryStrategy/never`` for a request that should not be retried although others are.
    public var retryStrategy: (any HTTPRetryStrategy)? {
        get { self[option: RetryOption.self] }
        set { self[option: RetryOption.self] = newValue }
    }

    /// How long all attempts may take together, including delays; nil for the limit of the ``Retry`` loader.
    ///
    /// It counts from the arrival at that loader, where it becomes the request's ``deadline`` unless that is earlier.
    public var totalTimeout: Duration? {
        get { self[option: TotalTimeoutOption.self] }
        set { self[option: TotalTimeoutOption.self] = newValue }
    }

    /// Whether the request may be repeated, because making it twice does no harm.
    ///
    /// By default the method decides. Set it to true for a POST with an idempotency key, or to false for a GET that has
    /// effects.
    public var isRepeatable: Bool {
        get { self[option: RepeatabilityOption.self] ?? method.isIdempotent }
        set { self[option: RepeatabilityOption.self] = newValue }
    }
}
