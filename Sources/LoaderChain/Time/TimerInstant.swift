/// A point in time on the monotonic clock of some ``Timers``.
///
/// It counts nanoseconds from a start that is the clock's own affair, so only instants of the same timers compare.
/// Arithmetic saturates: an instant beyond the ends of time is the end of time.
public struct TimerInstant: InstantProtocol, Hashable, Sendable {
    /// The nanoseconds since the clock's start.
    public let nanoseconds: Int64

    /// The instant so many nanoseconds after the clock's start.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The instant `duration` after this one, or the end of time that lies in that direction.
    public func advanced(by duration: Duration) -> TimerInstant {
        TimerInstant(nanoseconds: Int64(clamping: Int128(nanoseconds) + duration.wholeNanoseconds))
    }

    /// The time from this instant until `other`, exact over the whole of time, negative if `other` is earlier.
    public func duration(to other: TimerInstant) -> Duration {
        .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    /// Whether `left` comes before `right`.
    public static func < (left: TimerInstant, right: TimerInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
