#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Decides whether a request that came to some result is to be tried again, and when.
///
/// ## Choosing one
///
/// ``Backoff`` is one for nearly every need: at once, after the same delay each time, or after delays that double.
///
/// ## Using one
///
/// Give it to a request, or to the ``Retry`` loader for all requests that bring none:
///
/// ```swift
/// request.retryStrategy = Backoff.exponential(delay: 0.2, maximumNumberOfAttempts: 4)
/// ```
///
/// ## Writing your own
///
/// A strategy is asked after each attempt, whatever came of it: the result tells how many attempts there were so far. So
/// it needs no memory, and one value can serve any number of requests, from any thread.
///
/// ```swift
/// struct UntilItIsReady: HTTPRetryStrategy {
///     func retryDelay(for result: HTTPResult) -> TimeInterval? {
///         result.response?.status == .accepted && result.attempts < 10 ? 2 : nil
///     }
/// }
/// ```
///
/// One that does keep a memory, such as a count of its own, belongs to one request, which asks it about one result at a
/// time. Whatever a strategy says, ``Retry`` has the last word: see there for what it does not repeat.
public protocol HTTPRetryStrategy: Sendable {
    /// How many seconds to wait before the next attempt: 0 to try again at once, nil not to.
    ///
    /// - Parameter result: what the last attempt came to. Its `attempts` is the number of attempts so far.
    func retryDelay(for result: HTTPResult) -> TimeInterval?
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// Whether the same request may well succeed if it is made again.
    ///
    /// ``Backoff`` goes by this, and shows which results those are. A strategy of your own may use it too.
    public var isTransientFailure: Bool {
        switch self {
        case .success(let response): return response.status.isTransient
        case .failure(let error):
            switch error.code {
            case .cancelled, .resetInProgress: return false
            case .timedOut, .cannotConnect, .connectionLost: return true
            default: return error.response?.status.isTransient ?? false
            }
        }
    }
}
