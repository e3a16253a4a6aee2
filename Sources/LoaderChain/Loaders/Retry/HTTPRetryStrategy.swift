import LoaderChainPlatformFoundation

/// Decides whether and when a request is retried.
///
/// ## Choosing one
///
/// ``Backoff`` serves nearly every need: at once, after the same delay each time, or after delays that double.
///
/// ## Using one
///
/// Set it on a request, or give it to the ``Retry`` loader for all requests without their own:
///
/// ```swift
/// request.retryStrategy = .exponential(delay: 0.2, maximumNumberOfAttempts: 4)
/// ```
///
/// ## Writing your own
///
/// A strategy is asked after each attempt, unless a cancel or a reset has ended it; the result has the number of attempts
/// so far. A strategy therefore needs no state, and one value can serve any number of requests, from any thread.
///
/// ```swift
/// struct UntilItIsReady: HTTPRetryStrategy {
///     func retryDelay(for result: HTTPResult) -> TimeInterval? {
///         result.response?.status == .accepted && result.attempts < 10 ? 2 : nil
///     }
/// }
/// ```
///
/// A strategy with state, such as a count, belongs to one request, which asks it about one result at a time. ``Retry``
/// may decide not to repeat a request whatever its strategy says; see there.
public protocol HTTPRetryStrategy: Sendable {
    /// How many seconds to wait before the next attempt: 0 to retry at once, nil or infinity not to retry.
    ///
    /// - Parameter result: the result of the last attempt. Its `attempts` is the number of attempts so far.
    func retryDelay(for result: HTTPResult) -> TimeInterval?
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// Whether the same request may well succeed at another attempt.
    ///
    /// ``Backoff`` uses this, and lists the results. A strategy of your own may use it too.
    public var isTransientFailure: Bool {
        switch ResultMeaning(self) {
        case .answered(let status): status.isTransient
        case .unreachable, .lost: true
        case .stopped, .outOfTime, .heldBack, .unsendable, .insecure, .unauthorized, .useless, .notTaken, .unknown:
            false
        }
    }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// Whether the server has refused the request because it got too many: 429, or 503 with a time after which to try again.
    ///
    /// ``Backoff`` and ``RetryBudget`` treat such a failure differently from others.
    public var isThrottled: Bool {
        guard case .answered(let status) = ResultMeaning(self) else { return false }
        return status == .tooManyRequests || status == .serviceUnavailable && RetryAfter.isGiven(by: response)
    }
}

/// Retries after transient failures, up to a number of attempts, with delays that follow a rule.
///
/// ```swift
/// request.retryStrategy = .exponential(delay: 0.2, maximumNumberOfAttempts: 4)
/// ```
///
/// The number of attempts includes the first. These results are transient failures, according to
/// `HTTPResult.isTransientFailure`:
///
/// | Result | Transient |
/// |---|---|
/// | ``HTTPError/Code/timedOut``, ``HTTPError/Code/cannotConnect``, ``HTTPError/Code/connectionLost`` | yes |
/// | 408 Request Timeout, 429 Too Many Requests | yes |
/// | 500 Internal Server Error, 502 Bad Gateway, 503 Service Unavailable, 504 Gateway Timeout | yes |
/// | an error of another kind about a response with one of these statuses | yes |
/// | ``HTTPError/Code/cancelled``, ``HTTPError/Code/resetInProgress``, ``HTTPError/Code/deadlineExceeded``, whatever the response | no |
/// | everything else | no |
///
/// Prefer ``exponential(delay:throttledDelay:maximumNumberOfAttempts:maximumDelay:random:)``. With the other rules, clients that
/// failed together come back together.
public struct Backoff: HTTPRetryStrategy {
    private let rule: Rule
    private let maximumNumberOfAttempts: Int

    fileprivate init(rule: Rule, maximumNumberOfAttempts: Int) {
        self.rule = rule
        self.maximumNumberOfAttempts = maximumNumberOfAttempts
    }

    fileprivate enum Rule {
        case constant(TimeInterval)
        case exponential(Pacing, throttled: Pacing, RandomSource)
    }

    /// The delay of the rule, after a transient failure with attempts left.
    public func retryDelay(for result: HTTPResult) -> TimeInterval? {
        guard result.isTransientFailure, result.attempts < maximumNumberOfAttempts else { return nil }
        switch rule {
        case .constant(let delay): return delay
        case .exponential(let pacing, let throttled, let random):
            return (result.isThrottled ? throttled : pacing).delay(afterFailures: result.attempts, roll: random.unit())
                / .seconds(1)
        }
    }

    /// A delay as a duration, which cannot be negative or without end.
    fileprivate static func duration(_ seconds: TimeInterval) -> Duration {
        .seconds(min(max(0, seconds), TimeInterval(UInt32.max)))
    }
}

extension HTTPRetryStrategy where Self == Backoff {
    /// Never retries; for a request that should not use the loader's strategy.
    public static var never: Backoff { Backoff(rule: .constant(0), maximumNumberOfAttempts: 1) }

    /// Retries at once.
    public static func immediately(maximumNumberOfAttempts: Int) -> Backoff {
        Backoff(rule: .constant(0), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Retries after `delay` seconds, the same each time.
    public static func constant(delay: TimeInterval, maximumNumberOfAttempts: Int) -> Backoff {
        Backoff(rule: .constant(delay), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Retries after a random delay between zero and a bound that doubles each time.
    ///
    /// This is called full jitter: it spreads clients that failed together over the whole time. A server that refuses requests
    /// because it gets too many needs more time than one whose connection was lost, so that has a bound of its own; see
    /// `HTTPResult.isThrottled`.
    ///
    /// - Parameters:
    ///   - delay: the bound of the first delay, in seconds; 50 milliseconds by default.
    ///   - throttledDelay: the bound of the first delay after a refusal of too many requests, in seconds; a second by default, and
    ///     never less than `delay`.
    ///   - maximumNumberOfAttempts: the number of attempts, including the first; three by default.
    ///   - maximumDelay: the largest bound, in seconds; half a minute by default.
    ///   - random: chooses the delay; give a seeded source in tests.
    public static func exponential(
        delay: TimeInterval = 0.05, throttledDelay: TimeInterval = 1, maximumNumberOfAttempts: Int = 3,
        maximumDelay: TimeInterval = 30, random: RandomSource = .system
    ) -> Backoff {
        let (first, maximum) = (Backoff.duration(delay), Backoff.duration(maximumDelay))
        let pacing = Pacing(first: first, maximum: maximum)
        let throttled = Pacing(first: max(first, Backoff.duration(throttledDelay)), maximum: maximum)
        return Backoff(
            rule: .exponential(pacing, throttled: throttled, random), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }
}
