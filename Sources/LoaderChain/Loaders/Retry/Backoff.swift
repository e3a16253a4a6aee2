#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Tries again after transient failures, so many times, after delays that follow a rule.
///
/// ```swift
/// request.retryStrategy = Backoff.exponential(delay: 0.2, maximumNumberOfAttempts: 4)
/// ```
///
/// The number of attempts includes the first. These results are transient failures, as `HTTPResult.isTransientFailure`
/// tells:
///
/// | Result | Transient |
/// |---|---|
/// | ``HTTPError/Code/timedOut``, ``HTTPError/Code/cannotConnect``, ``HTTPError/Code/connectionLost`` | yes |
/// | 408 Request Timeout, 429 Too Many Requests | yes |
/// | 500 Internal Server Error, 502 Bad Gateway, 503 Service Unavailable, 504 Gateway Timeout | yes |
/// | an error of another kind about a response with one of these statuses | yes |
/// | ``HTTPError/Code/cancelled``, ``HTTPError/Code/resetInProgress``, whatever the response | no |
/// | everything else | no |
///
/// Prefer ``exponential(delay:maximumNumberOfAttempts:maximumDelay:dice:)``. With the other rules, clients that failed
/// together come back together.
public struct Backoff: HTTPRetryStrategy {
    private let rule: Rule
    private let maximumNumberOfAttempts: Int

    private enum Rule {
        case constant(TimeInterval)
        case exponential(Pacing, Dice)
    }

    /// Never tries again; for a request that is not to follow the strategy of the loader.
    public static let never = Backoff(rule: .constant(0), maximumNumberOfAttempts: 1)

    /// Tries again at once.
    public static func immediately(maximumNumberOfAttempts: Int) -> Backoff {
        Backoff(rule: .constant(0), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Tries again after `delay` seconds, the same each time.
    public static func constant(delay: TimeInterval, maximumNumberOfAttempts: Int) -> Backoff {
        Backoff(rule: .constant(delay), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Tries again after a delay that is any from nothing up to a bound, which doubles each time.
    ///
    /// That is called full jitter: it spreads the clients that failed together over the whole of the time.
    ///
    /// - Parameters:
    ///   - delay: the bound of the first delay, in seconds.
    ///   - maximumNumberOfAttempts: how many attempts there are in all.
    ///   - maximumDelay: what the bound never grows beyond, in seconds; half a minute by default.
    ///   - dice: choose the delay; give seeded ones in tests.
    public static func exponential(
        delay: TimeInterval, maximumNumberOfAttempts: Int, maximumDelay: TimeInterval = 30, dice: Dice = .system
    ) -> Backoff {
        let pacing = Pacing(first: duration(delay), maximum: duration(maximumDelay))
        return Backoff(rule: .exponential(pacing, dice), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// The delay that the rule says, after a transient failure while there are attempts left.
    public func retryDelay(for result: HTTPResult) -> TimeInterval? {
        guard result.isTransientFailure, result.attempts < maximumNumberOfAttempts else { return nil }
        switch rule {
        case .constant(let delay): return delay
        case .exponential(let pacing, let dice):
            return pacing.delay(afterFailures: result.attempts, roll: dice.unit()) / .seconds(1)
        }
    }

    /// A delay as a duration, which cannot be negative or without end.
    private static func duration(_ seconds: TimeInterval) -> Duration {
        .seconds(min(max(0, seconds), TimeInterval(UInt32.max)))
    }
}
