import LoaderChainPlatformFoundation

/// Measures how long the machine has slept: how far the wall clock got ahead of the monotonic clock, which stands still meanwhile.
///
/// A step of the wall clock that is larger than a machine may sleep, or that goes back, is a change of its setting, and no sleep.
package struct SleepMeter: Sendable {
    /// The latest instant that was read.
    package private(set) var lastInstant: TimerInstant
    private var lastDate: Double

    private static let believableSleep = Duration.seconds(1)...Duration.seconds(7 * 24 * 3600)

    package init(_ reading: ClockReading) {
        lastInstant = reading.instant
        lastDate = reading.date.timeIntervalSinceReferenceDate
    }

    /// Returns how much time has passed since the last reading: that of the monotonic clock, and the sleep besides.
    ///
    /// A reading that another thread's has overtaken changes nothing: measured from its date, the next one would look like a sleep.
    package mutating func read(_ reading: ClockReading) -> (passed: Duration, slept: Duration) {
        guard reading.instant >= lastInstant else { return (.zero, .zero) }
        let date = reading.date.timeIntervalSinceReferenceDate
        let passed = lastInstant.duration(to: reading.instant)
        let asleep = date - lastDate - passed / .seconds(1)
        // Compared as a number first: the difference may be infinite or not a number, and is no duration then.
        let mayHaveSlept = asleep >= 0 && asleep <= Self.believableSleep.upperBound / .seconds(1)
        let slept = mayHaveSlept ? Duration.seconds(asleep) : .zero
        lastInstant = reading.instant
        lastDate = date
        return (passed, Self.believableSleep ~= slept ? slept : .zero)
    }
}
