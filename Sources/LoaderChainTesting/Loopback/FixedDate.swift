#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum FixedDate {
    /// The text of a date, down to the second before it; dates outside the years 0 to 9999 become the nearest one inside.
    package static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        let number = seconds.isNaN ? 0 : Int(seconds.clamped(to: range))
        let day = number.flooredQuotient(by: secondsPerDay)
        let second = number - day * secondsPerDay
        let (year, month, dayOfMonth) = calendarDay(day)
        // The first of January 1970 was a Thursday.
        let weekday = weekdays[day + 4 - (day + 4).flooredQuotient(by: 7) * 7]
        let clock = [second / 3600, second / 60 % 60, second % 60].map { padded($0, to: 2) }.joined(separator: ":")
        return "\(weekday), \(padded(dayOfMonth, to: 2)) \(months[month]) \(padded(year, to: 4)) \(clock) GMT"
    }

    private static let secondsPerDay = 86_400
    /// From the first second of the year 0 to the last one of the year 9999.
    private static let range = -62_167_219_200.0...253_402_300_799.0
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The year, the month counted from zero, and the day, of a day counted from 1970.
    private static func calendarDay(_ day: Int) -> (year: Int, month: Int, day: Int) {
        var rest = day
        var year = 1970
        // Whole cycles of 400 years first, so that the steps below are few.
        let cycle = 146_097
        let cycles = rest.flooredQuotient(by: cycle)
        rest -= cycles * cycle
        year += cycles * 400
        while rest >= days(in: year) {
            rest -= days(in: year)
            year += 1
        }
        var month = 0
        while rest >= days(in: month, of: year) {
            rest -= days(in: month, of: year)
            month += 1
        }
        return (year, month, rest + 1)
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func days(in year: Int) -> Int { isLeap(year) ? 366 : 365 }

    private static func days(in month: Int, of year: Int) -> Int {
        month == 1 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    }

    private static func padded(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int {
    /// The quotient rounded towards negative infinity.
    fileprivate func flooredQuotient(by divisor: Int) -> Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
