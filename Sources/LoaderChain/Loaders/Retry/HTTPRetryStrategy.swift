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
/// request.retryStrategy = Backoff.exponential(delay: 0.2, maximumNumberOfAttempts: 4)
/// ```
///
/// ## Writing your own
///
/// A strategy is asked after each attempt, whatever its result, which has the number of attempts so far. A strategy
/// therefore needs no state, and one value can serve any number of requests, from any thread.
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
