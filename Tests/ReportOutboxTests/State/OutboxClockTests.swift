import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import Testing

@testable import ReportOutbox

@Suite(.timeLimit(.minutes(10))) struct OutboxClockTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private static let tenYears = 315_360_000.0

    private static func instant(_ seconds: Double) -> TimerInstant { TimerInstant(nanoseconds: Int64(seconds * 1e9)) }

    @Test func clockFollowsMonotonicClock() {
        var clock = OutboxClock(at: Self.instant(5), date: Self.start)
        #expect(clock.read(at: Self.instant(5), date: Self.start) == Self.instant(0))
        #expect(clock.read(at: Self.instant(6.5), date: Self.start + 1.5) == Self.instant(1.5))
        // Frequent reads lose no time.
        for step in 1...10_000 {
            _ = clock.read(at: Self.instant(6.5 + Double(step) / 10_000), date: Self.start + 1.5)
        }
        #expect(clock.time == Self.instant(2.5))
    }

    @Test(arguments: [tenYears, -tenYears, -1, -100, 8 * 24 * 3600, .infinity, -.infinity, .nan])
    func wallClockStepIsIgnored(_ step: Double) {
        var clock = OutboxClock(at: Self.instant(0), date: Self.start)
        #expect(clock.read(at: Self.instant(1), date: Self.start + 1 + step) == Self.instant(1))
        #expect(clock.read(at: Self.instant(2), date: Self.start + 2 + step) == Self.instant(2))
        #expect(clock.read(at: Self.instant(3), date: Self.start + 3) >= Self.instant(3))
    }

    /// The waiting time of a report is measured with both clocks, and a thread may be interrupted between the two.
    @Test func pauseBetweenClockReadingsIsNotCountedTwice() throws {
        let timers = HookedTimers()
        var settings = OutboxSettings.test()
        settings.timers = timers
        settings.maximumAge = .seconds(7_000)
        let outbox = try ReportOutbox(
            files: MemoryDirectory(), chain: FakeServer { _, _ in .status(.badGateway) }, settings: settings)
        try outbox.submit(bytes(10), identifier: "a", request: upload)
        outbox.drain()
        let stops = Locked(0)
        timers.onDate {
            let isFirst = stops.withLock { stops in
                stops += 1
                return stops == 1
            }
            if isFirst { timers.timers.advance(by: .seconds(5_000)) }
        }
        outbox.sendNow()
        outbox.drain()
        timers.onDate {}
        // 5,000 seconds old, and not 10,000.
        #expect(outbox.counters.dropped == [:] && outbox.count == 1)
    }

    @Test func sleepOfMachineIsCounted() {
        var clock = OutboxClock(at: Self.instant(0), date: Self.start)
        #expect(clock.read(at: Self.instant(1), date: Self.start + 3_601) == Self.instant(3_601))
    }

    @Test func outdatedReadingIsIgnored() {
        var clock = OutboxClock(at: Self.instant(0), date: Self.start)
        #expect(clock.read(at: Self.instant(30), date: Self.start + 30) == Self.instant(30))
        #expect(clock.read(at: Self.instant(10), date: Self.start + 10) == Self.instant(30))
        #expect(clock.read(at: Self.instant(40), date: Self.start + 40) == Self.instant(40))
    }

    @Test func clockNeverGoesBack() {
        var random = SeededGenerator(seed: 9)
        var clock = OutboxClock(at: Self.instant(0), date: Self.start)
        var last = Self.instant(0)
        for _ in 0..<10_000 {
            let instant = TimerInstant(nanoseconds: Int64(truncatingIfNeeded: random.next() >> 2))
            let date = Date(timeIntervalSinceReferenceDate: Double(bitPattern: random.next()))
            let time = clock.read(at: instant, date: date)
            #expect(time >= last)
            last = time
        }
    }
}

extension OutboxClock {
    fileprivate init(at instant: TimerInstant, date: Date) { self.init(ClockReading(instant: instant, date: date)) }

    fileprivate mutating func read(at instant: TimerInstant, date: Date) -> TimerInstant {
        read(ClockReading(instant: instant, date: date))
    }
}
