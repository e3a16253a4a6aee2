/// How long to wait after a failure: a random delay up to a bound, which doubles from one failure in a row to the next.
///
/// Chance spreads clients that failed together, so that they do not come back together.
package struct Pacing: Hashable, Sendable {
    /// The bound of the delay after the first failure.
    package let first: Duration
    /// The maximum of the bound.
    package let maximum: Duration
    /// The longest wait that a server can ask for.
    package let maximumAsked: Duration
    /// The share of the bound that a delay has at least: 0 spreads best, and a larger one keeps a client from hurrying.
    package let leastShare: Double

    /// Makes a pacing whose durations are not negative.
    package init(first: Duration, maximum: Duration, maximumAsked: Duration = .zero, leastShare: Double = 0) {
        self.maximum = Self.clamped(maximum)
        self.first = min(self.maximum, Self.clamped(first))
        self.maximumAsked = Self.clamped(maximumAsked)
        self.leastShare = leastShare
    }

    /// Longer than any program runs, and short enough to calculate with.
    private static let longest = Duration.seconds(Int64(UInt32.max))

    /// The nearest duration that is not negative, and short enough to calculate with.
    package static func clamped(_ duration: Duration) -> Duration { min(max(.zero, duration), longest) }

    /// Returns how long to wait after so many failures in a row; `roll` is chance, from 0 up to 1.
    ///
    /// The delay that a server asks for is the pace, however many attempts have failed; chance adds an eighth of it at the most.
    package func delay(afterFailures failures: Int, asked: Duration? = nil, roll: Double) -> Duration {
        let granted = asked.map(granted) ?? .zero
        guard granted > .zero else { return bound(afterFailures: failures) * (leastShare + (1 - leastShare) * roll) }
        return min(granted + min(granted, maximum) * (roll / 8), maximumAsked)
    }

    /// Returns what a server gets of the wait that it asks for.
    package func granted(_ asked: Duration) -> Duration { min(max(.zero, asked), maximumAsked) }

    package func bound(afterFailures failures: Int) -> Duration {
        let mostDoublings = Int128.bitWidth - 2
        let factor: Int128 = 1 << min(max(0, failures - 1), mostDoublings)
        let (bound, isTooLarge) = first.attoseconds.multipliedReportingOverflow(by: factor)
        return isTooLarge ? maximum : min(maximum, Duration(attoseconds: bound))
    }
}

/// Whether and when a transfer continues after a failure: not after too many failures in a row, which new bytes end.
struct Perseverance: Sendable {
    private let maximumFailures: Int
    private let pacing: Pacing
    private var failures = 0
    /// The most bytes that there were.
    private var most: Int64 = 0

    /// Begins without a failure; gives up after `maximumFailures` in a row, at least one.
    init(maximumFailures: Int, pacing: Pacing) {
        self.maximumFailures = max(1, maximumFailures)
        self.pacing = pacing
    }

    /// Notes how many bytes there are before the first attempt.
    mutating func begin(at count: Int64) { most = count }

    /// Notes a failure with `count` bytes there; returns the delay before the next attempt, or nil to give up.
    ///
    /// `asked` is the delay that the server asks for, and `roll` a random number, from 0 up to 1.
    mutating func takeFailure(at count: Int64, asked: Duration, roll: Double) -> Duration? {
        noteProgress(count)
        failures += 1
        guard failures < maximumFailures else { return nil }
        // A transfer has few attempts, which must not be over before a server that asks for short waits is well.
        return max(pacing.delay(afterFailures: failures, roll: roll), pacing.granted(asked))
    }

    /// Notes an attempt that has not failed; false to give up, because such attempts bring nothing new.
    mutating func takeStep(at count: Int64) -> Bool {
        if noteProgress(count) { return true }
        failures += 1
        return failures < maximumFailures
    }

    /// Restarts the count if there are more bytes than ever; returns whether there are.
    @discardableResult
    private mutating func noteProgress(_ count: Int64) -> Bool {
        guard count > most else { return false }
        (most, failures) = (count, 0)
        return true
    }
}
