import LoaderChainPlatformFoundation

/// The present by both clocks of some ``Timers``.
package struct ClockReading: Sendable {
    package let instant: TimerInstant
    package let date: Date

    package init(instant: TimerInstant, date: Date) {
        self.instant = instant
        self.date = date
    }

    /// Reads both clocks, under no lock, since the timers are the app's.
    ///
    /// A thread that is stopped between the two readings would find the date ahead of the instant, as after a sleep of the machine, so
    /// both are read again then.
    package init(_ timers: any Timers) {
        var instant = timers.now
        for _ in 0..<Self.mostReadings {
            let date = timers.date
            let later = timers.now
            if instant.duration(to: later) < Self.longestReading {
                self.init(instant: instant, date: date)
                return
            }
            instant = later
        }
        self.init(instant: instant, date: timers.date)
    }

    private static let longestReading = Duration.milliseconds(500)
    private static let mostReadings = 8
}
