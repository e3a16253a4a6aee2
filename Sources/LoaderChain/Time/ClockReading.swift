import LoaderChainPlatformFoundation

extension Timers {
    /// The present by a clock that goes on while the machine sleeps; of timers that have none, by their own clock.
    var nowWithSleep: TimerInstant { self is SystemTimers ? .continuous : now }
}

/// The present by both clocks of some ``Timers``.
package struct ClockReading: Sendable {
    package let instant: TimerInstant
    package let date: Date
    /// A clock in seconds that goes on while the machine sleeps: for other timers than the system's, the date.
    fileprivate let sleepClock: Double
    fileprivate let sleepClockIsDate: Bool

    package init(instant: TimerInstant, date: Date) {
        self.init(instant, date, sleepClock: date.timeIntervalSinceReferenceDate, isDate: true)
    }

    private init(_ instant: TimerInstant, _ date: Date, sleepClock: Double, isDate: Bool) {
        self.instant = instant
        self.date = date
        self.sleepClock = sleepClock
        sleepClockIsDate = isDate
    }

    /// Reads both clocks, under no lock, since the timers are the app's.
    ///
    /// A thread that is stopped between the two readings would find the date ahead of the instant, as after a sleep of the machine, so
    /// both are read again then.
    package init(_ timers: any Timers) {
        var instant = timers.now
        for _ in 0..<Self.mostReadings {
            let reading = Self.reading(timers, at: instant)
            let later = timers.now
            if instant.duration(to: later) < Self.longestReading {
                self = reading
                return
            }
            instant = later
        }
        self = Self.reading(timers, at: instant)
    }

    private static func reading(_ timers: any Timers, at instant: TimerInstant) -> ClockReading {
        let date = timers.date
        // The system's date may be set while the machine is awake.
        guard timers is SystemTimers else { return ClockReading(instant: instant, date: date) }
        let sleepClock = Double(TimerInstant.continuous.nanoseconds) / 1e9
        return ClockReading(instant, date, sleepClock: sleepClock, isDate: false)
    }

    private static let longestReading = Duration.milliseconds(500)
    private static let mostReadings = 8
}

/// Measures how long the machine has slept: how far another clock got ahead of the monotonic clock, which stands still meanwhile.
///
/// If the other clock is a date, a step that is larger than a machine may sleep, or that goes back, is a change of its setting, and not
/// sleep.
package struct SleepMeter: Sendable {
    package private(set) var lastInstant: TimerInstant
    private var lastSleepClock: Double

    /// How long an alarm may wait before the sleep is measured, if it may end what the alarm waits for.
    package static let longestAlarm = Duration.seconds(300)

    /// In seconds.
    private static let shortestSleep = 1.0
    private static let longestSleep = 7.0 * 24 * 3600

    package init(_ reading: ClockReading) {
        lastInstant = reading.instant
        lastSleepClock = reading.sleepClock
    }

    /// Returns how much time has passed since the last reading: that of the monotonic clock, plus the sleep.
    ///
    /// A reading that another thread's has overtaken changes nothing: measured from its date, the next one would look like a sleep.
    package mutating func read(_ reading: ClockReading) -> (passed: Duration, slept: Duration) {
        guard reading.instant >= lastInstant else { return (.zero, .zero) }
        let passed = lastInstant.duration(to: reading.instant)
        let asleep = reading.sleepClock - lastSleepClock - passed / .seconds(1)
        // Compared as a number first: the difference may be infinite or not a number, which cannot be a duration.
        let longest = reading.sleepClockIsDate ? Self.longestSleep : .infinity
        let hasSlept = asleep >= Self.shortestSleep && asleep <= longest
        lastInstant = reading.instant
        lastSleepClock = reading.sleepClock
        return (passed, hasSlept ? .seconds(asleep) : .zero)
    }
}

extension Duration {
    /// A wall clock that says more than this about an age is wrong, rather than the thing old.
    private static let longestAge = Duration.seconds(60 * 24 * 3600)

    /// Returns the age of something that an earlier process left, by the date that it bears.
    ///
    /// It is zero if a clock must have been wrong: if the age is negative, or longer than 60 days and twice a limit.
    package func believableAge(limit: Duration) -> Duration {
        // Halves, since twice the limit might overflow.
        self >= .zero && self / 2 <= max(Self.longestAge / 2, limit) ? self : .zero
    }
}
