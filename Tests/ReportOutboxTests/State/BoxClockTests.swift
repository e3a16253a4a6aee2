import LoaderChain
import Testing

@testable import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite(.timeLimit(.minutes(10))) struct BoxClockTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private static let tenYears = 315_360_000.0

    private static func instant(_ seconds: Double) -> TimerInstant { TimerInstant(nanoseconds: Int64(seconds * 1e9)) }

    @Test func itFollowsTheMonotonicClock() {
        var clock = BoxClock(instant: Self.instant(5), date: Self.start)
        #expect(clock.read(instant: Self.instant(5), date: Self.start) == Self.instant(0))
        #expect(clock.read(instant: Self.instant(6.5), date: Self.start + 1.5) == Self.instant(1.5))
        // Nothing is lost by looking often.
        for step in 1...10_000 {
            _ = clock.read(instant: Self.instant(6.5 + Double(step) / 10_000), date: Self.start + 1.5)
        }
        #expect(clock.time == Self.instant(2.5))
    }

    @Test(arguments: [tenYears, -tenYears, -1, -100, 8 * 24 * 3600, .infinity, -.infinity, .nan])
    func aStepOfTheWallClockCountsForNothing(_ step: Double) {
        var clock = BoxClock(instant: Self.instant(0), date: Self.start)
        #expect(clock.read(instant: Self.instant(1), date: Self.start + 1 + step) == Self.instant(1))
        #expect(clock.read(instant: Self.instant(2), date: Self.start + 2 + step) == Self.instant(2))
        #expect(clock.read(instant: Self.instant(3), date: Self.start + 3) >= Self.instant(3))
    }

    @Test func sleepOfTheMachineCounts() {
        var clock = BoxClock(instant: Self.instant(0), date: Self.start)
        #expect(clock.read(instant: Self.instant(1), date: Self.start + 3_601) == Self.instant(3_601))
    }

    @Test func itNeverGoesBack() {
        var random = SeededGenerator(seed: 9)
        var clock = BoxClock(instant: Self.instant(0), date: Self.start)
        var last = Self.instant(0)
        for _ in 0..<10_000 {
            let instant = TimerInstant(nanoseconds: Int64(truncatingIfNeeded: random.next() >> 2))
            let date = Date(timeIntervalSinceReferenceDate: Double(bitPattern: random.next()))
            let time = clock.read(instant: instant, date: date)
            #expect(time >= last)
            last = time
        }
    }
}
