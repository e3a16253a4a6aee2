import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct WaitClockTests {
    /// Against a model that looks at every nanosecond.
    @Test func overlappingWaitsCountOnce() {
        takeWalks(seeds: 0..<2_000) { seed in
            var generator = SeededGenerator(seed: seed)
            var clock = WaitClock()
            var waiting = 0
            var expected: Int64 = 0
            var now: Int64 = 0
            for step in 0..<40 {
                let passed = Int64.random(in: 0...5, using: &generator)
                if waiting > 0 { expected += passed }
                now += passed
                let instant = TimerInstant(nanoseconds: now)
                if Bool.random(using: &generator) {
                    clock.begin(at: instant)
                    waiting += 1
                } else {
                    clock.end(at: instant)
                    waiting = max(0, waiting - 1)
                }
                let total = clock.total(at: instant)
                if total != .nanoseconds(expected) { return "step \(step): \(total) for \(expected) ns" }
            }
            return nil
        }
    }

    @Test func outOfOrderReadingsDoNotReduceTotal() {
        var clock = WaitClock()
        clock.begin(at: TimerInstant(nanoseconds: 10))
        clock.end(at: TimerInstant(nanoseconds: 4))
        #expect(clock.total(at: TimerInstant(nanoseconds: 3)) == .zero)
        clock.begin(at: TimerInstant(nanoseconds: 10))
        #expect(clock.total(at: TimerInstant(nanoseconds: 15)) == .nanoseconds(5))
    }
}
