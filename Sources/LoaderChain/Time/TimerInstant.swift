/// An instant on the monotonic clock of some ``Timers``.
///
/// It counts nanoseconds from a start that the clock chooses, so you can compare only instants of the same timers.
/// Arithmetic saturates.
public struct TimerInstant: InstantProtocol, Hashable, Sendable {
    /// The nanoseconds since the clock's start.
    public let nanoseconds: Int64

    /// Makes the instant `nanoseconds` after the clock's start.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The instant that never comes.
    static var never: TimerInstant { TimerInstant(nanoseconds: .max) }

    /// The instant `duration` after this one; saturates.
    public func advanced(by duration: Duration) -> TimerInstant {
        TimerInstant(nanoseconds: Int64(clamping: Int128(nanoseconds) + duration.wholeNanoseconds))
    }

    /// The exact time from this instant to `other`, negative if `other` is earlier.
    public func duration(to other: TimerInstant) -> Duration {
        .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    /// Whether `left` comes before `right`.
    public static func < (left: TimerInstant, right: TimerInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
