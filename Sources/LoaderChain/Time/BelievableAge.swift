import LoaderChainPlatformFoundation

/// How old something is that an earlier process left, by the date that it bears.
package enum BelievableAge {
    /// A wall clock that says more than this about an age is wrong, rather than the thing old.
    private static let longest = Duration.seconds(60 * 24 * 3600)

    /// Returns an age, or zero if a clock must have been wrong: if it is negative, or longer than 60 days and twice a limit.
    package static func of(_ age: Duration, limit: Duration) -> Duration {
        // Halves, since twice the limit might overflow.
        age >= .zero && age / 2 <= max(longest / 2, limit) ? age : .zero
    }

    /// Returns the time since a date, or zero if a clock must have been wrong.
    package static func since(_ date: Date, until now: Date, limit: Duration) -> Duration {
        let seconds = now.timeIntervalSince(date)
        // Longer than any age, and short enough for a duration; it may also not be a number.
        let longestSeconds = 1e15
        return seconds.magnitude < longestSeconds ? of(.seconds(seconds), limit: limit) : .zero
    }
}
