import LoaderChain
import Testing

@Suite(.timeLimit(.minutes(10))) struct TimerInstantTests {
    private static let longest = Duration(attoseconds: .max)
    private static let shortest = Duration(attoseconds: .min)

    @Test func ordinaryDurationsMoveInstantExactly() {
        let instant = TimerInstant(nanoseconds: 100)
        #expect(instant.advanced(by: .nanoseconds(5)).nanoseconds == 105)
        #expect(instant.advanced(by: .seconds(-1)).nanoseconds == -999_999_900)
        #expect(instant.advanced(by: .zero) == instant)
        #expect(instant.duration(to: TimerInstant(nanoseconds: 40)) == .nanoseconds(-60))
        #expect(instant < TimerInstant(nanoseconds: 101))
    }

    @Test func fractionOfNanosecondIsRoundedUp() {
        #expect(Duration(attoseconds: 1).saturatedNanoseconds == 1)
        #expect(Duration(attoseconds: 1_000_000_000).saturatedNanoseconds == 1)
        #expect(Duration(attoseconds: 1_000_000_001).saturatedNanoseconds == 2)
        #expect(Duration(attoseconds: -1).saturatedNanoseconds == 0)
        #expect(Duration(attoseconds: -1_000_000_001).saturatedNanoseconds == -1)
    }

    @Test(arguments: [longest, .seconds(Int64.max), .seconds(Int64.max) + .seconds(Int64.max), .seconds(9_223_372_037)])
    func durationBeyondEndOfTimeSaturates(duration: Duration) {
        let (start, end) = (TimerInstant(nanoseconds: 0), TimerInstant(nanoseconds: .max))
        #expect(duration.saturatedNanoseconds == .max)
        #expect(start.advanced(by: duration) == end)
        #expect(end.advanced(by: duration) == end)
    }

    @Test(arguments: [
        shortest, .seconds(Int64.min), .seconds(Int64.min) + .seconds(Int64.min), .seconds(-9_223_372_037),
    ])
    func durationBeyondBeginningOfTimeSaturates(duration: Duration) {
        let (start, beginning) = (TimerInstant(nanoseconds: 0), TimerInstant(nanoseconds: .min))
        #expect(duration.saturatedNanoseconds == .min)
        #expect(start.advanced(by: duration) == beginning)
        #expect(beginning.advanced(by: duration) == beginning)
    }

    @Test func durationBetweenAnyInstantsLeadsToSecond() {
        let nanoseconds: [Int64] = [.min, .min + 1, -1, 0, 1, 1_000_000_000, .max - 1, .max]
        for from in nanoseconds.map(TimerInstant.init(nanoseconds:)) {
            for to in nanoseconds.map(TimerInstant.init(nanoseconds:)) {
                #expect(from.advanced(by: from.duration(to: to)) == to)
            }
        }
    }
}
