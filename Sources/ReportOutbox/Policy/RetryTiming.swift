import LoaderChain

/// How long a report waits for its next attempt.
struct RetryTiming: Sendable {
    let first: Int64
    let longest: Int64
    let longestAsked: Int64

    init(_ policy: OutboxPolicy) {
        longest = max(0, policy.maximumDelay.milliseconds)
        first = min(longest, max(0, policy.firstDelay.milliseconds))
        longestAsked = max(0, policy.maximumRetryAfter.milliseconds)
    }

    /// Milliseconds to wait after so many failures: any up to a bound that doubles with each.
    func delay(afterFailures failures: Int, dice: Dice) -> Int64 {
        let doublings = min(max(0, failures - 1), 62)
        let (bound, overflow) = first.multipliedReportingOverflow(by: 1 << doublings)
        return Int64(Double(overflow ? longest : min(longest, bound)) * dice.unit())
    }

    /// What a server asked for, within what it may ask for.
    func asked(_ delay: Duration) -> Int64 { min(max(0, delay.milliseconds), longestAsked) }
}

extension Duration {
    /// The duration in milliseconds, a begun one counted as whole.
    var milliseconds: Int64 {
        let nanoseconds = saturatedNanoseconds
        return nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0)
    }
}
