import LoaderChainPlatformFoundation

/// A second of a calendar day, in universal time.
struct CalendarTime: Hashable, Sendable {
    let day: CalendarDay

    /// How many seconds of the day have passed; one leap second may stand at its end.
    let second: Int

    init(_ day: CalendarDay, second: Int) {
        self.day = day
        self.second = second
    }

    /// The second in which a date falls; a date beyond the years 0 to 9999 gives the nearest second within.
    init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        // A date that is NaN has no second; the epoch is as good as any.
        let clamped = seconds.isNaN ? 0 : min(max(seconds, Double(Self.earliest)), Double(Self.latest))
        // 64 bits, which `Int` does not have on every platform.
        let passed = Int64(clamped) - Self.earliest
        self.init(CalendarDay(number: Int(passed / Self.secondsPerDay)), second: Int(passed % Self.secondsPerDay))
    }

    /// The date of this second's beginning.
    var date: Date {
        Date(timeIntervalSince1970: Double(Self.earliest + Int64(day.number) * Self.secondsPerDay + Int64(second)))
    }

    private static let secondsPerDay: Int64 = 86_400
    /// The first second of the year 0, counted from 1970.
    private static let earliest: Int64 = -62_167_219_200
    /// The last second of the year 9999, counted from 1970.
    private static let latest: Int64 = 253_402_300_799
}
