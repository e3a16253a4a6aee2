import Foundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct CalendarDayTests {
    private static let daysIn400Years = 146_097

    @Test func dayNumbersAreConsecutiveFor400Years() {
        var number = 0
        for year in 0..<400 {
            for month in 1...12 {
                for day in 1...31 {
                    guard let date = CalendarDay(year: year, month: month, day: day) else { continue }
                    if date.number != number || CalendarDay(number: number) != date || date.weekday != (number + 6) % 7
                    {
                        Issue.record("\(date) is not day \(number)")
                        return
                    }
                    number += 1
                }
            }
        }
        #expect(number == Self.daysIn400Years)
    }

    @Test func calendarRepeatsAfter400Years() throws {
        for year in 400...9999 {
            for (month, day) in [(1, 1), (2, 28), (3, 1), (12, 31)] {
                let earlier = try #require(CalendarDay(year: year - 400, month: month, day: day))
                let number = earlier.number + Self.daysIn400Years
                let later = CalendarDay(number: number)
                if later.number != number || (later.year, later.month, later.day) != (year, month, day) {
                    Issue.record("400 years after \(earlier) is \(later)")
                    return
                }
            }
        }
    }

    @Test func leapDaysFollowGregorianRules() {
        let leapYears = [0, 4, 1600, 1904, 2000, 2024].filter { CalendarDay(year: $0, month: 2, day: 29) != nil }
        #expect(leapYears == [0, 4, 1600, 1904, 2000, 2024])
        for year in [1, 100, 1900, 2023, 2100] { #expect(CalendarDay(year: year, month: 2, day: 29) == nil) }
        #expect(CalendarDay(year: 2000, month: 2, day: 30) == nil)
    }

    @Test func daysOutsideCalendarAreRejectedOrClamped() {
        for (year, month, day) in [
            (-1, 1, 1), (10_000, 1, 1), (2000, 0, 1), (2000, 13, 1), (2000, 1, 0), (2000, 4, 31),
        ] {
            #expect(CalendarDay(year: year, month: month, day: day) == nil)
        }
        #expect(CalendarDay(number: .min) == CalendarDay(year: 0, month: 1, day: 1))
        #expect(CalendarDay(number: .max) == CalendarDay(year: 9999, month: 12, day: 31))
    }

    @Test(
        arguments: [
            ("2026-12-24T18:00:00Z", 1_798_135_200), ("2026-12-24t18:00:00z", 1_798_135_200),
            ("2026-12-24 19:30:00+01:30", 1_798_135_200), ("2026-12-24T18:00:00.000Z", 1_798_135_200),
            ("2026-12-24T13:00:00.999999-05:00", 1_798_135_200), ("1970-01-01T00:00:00Z", 0),
            ("2028-02-29T23:59:60Z", 1_835_481_600), ("0000-01-01T00:00:00Z", -62_167_219_200),
            ("", nil), ("2026-12-24", nil), ("2026-12-24T18:00:00", nil), ("2026-12-24T18:00:00.Z", nil),
            ("2026-13-24T18:00:00Z", nil), ("2026-02-29T18:00:00Z", nil), ("2026-12-24T24:00:00Z", nil),
            ("2026-12-24T18:60:00Z", nil), ("2026-12-24T18:00:61Z", nil), ("2026-12-24T18:00:00Zx", nil),
            ("2026-12-24T18:00:00+1:00", nil), ("2026-12-24T18:00:00+24:00", nil), ("2026-12-24T18:00:00+01:00Z", nil),
            ("9999999999-12-24T18:00:00Z", nil), ("2026-12-24T18:00:00+01", nil), ("２026-12-24T18:00:00Z", nil),
            ("2026-12-24T18:00:00.123456789Z", 1_798_135_200), ("2026-12-24T18:00:00.1234567890Z", nil),
            ("2026-12-24T18:00:00+00:60", nil), ("2026-12-24T18:00:00.", nil), ("2026-12-24T18:00:00.5", nil),
        ] as [(String, Double?)])
    func dateOfInternetIsRead(_ text: String, _ expected: Double?) {
        #expect(CalendarTime.date(rfc3339: text)?.second.timeIntervalSince1970 == expected)
    }

    @Test func partOfSecondIsReadOnItsOwn() {
        #expect(CalendarTime.date(rfc3339: "2026-12-24T18:00:00Z")?.fraction == 0)
        #expect(CalendarTime.date(rfc3339: "2026-12-24T18:00:00.25+01:00")?.fraction == 0.25)
        #expect(CalendarTime.date(rfc3339: "2026-12-24T18:00:00.000000001Z")?.fraction == 1e-9)
    }
}
