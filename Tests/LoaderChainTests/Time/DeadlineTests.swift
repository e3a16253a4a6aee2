import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct DeadlineTests {
    private let timers = ManualTimers()

    @Test func deadlinePassesAfterItsDuration() {
        let deadline = Deadline.after(.seconds(2), on: timers)
        #expect(deadline.remaining == .seconds(2) && !deadline.hasPassed)
        timers.advance(by: .milliseconds(1_500))
        #expect(deadline.remaining == .milliseconds(500) && "\(deadline)" == "in 0.5 seconds")
        timers.advance(by: .milliseconds(500))
        #expect(deadline.remaining == .zero && deadline.hasPassed)
        timers.advance(by: .seconds(1))
        #expect(deadline.remaining == .zero)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func deadlineOfNonPositiveDurationHasPassed(_ time: Duration) {
        #expect(Deadline.after(time, on: timers).hasPassed)
        #expect(Deadline.after(time).hasPassed)
    }

    @Test(arguments: [Duration.seconds(Int64.max), Duration(attoseconds: .max)])
    func deadlineOfMaximumDurationNeverPasses(_ time: Duration) {
        let own = Deadline.after(time, on: timers)
        let system = Deadline.after(time)
        timers.advance(by: .seconds(1_000_000))
        #expect(!own.hasPassed && !system.hasPassed)
        #expect(own.instant(on: timers, at: timers.now) == .never)
    }

    @Test func isEarlierComparesDeadlinesAcrossClocks() {
        let (soon, late) = (Deadline.after(.seconds(1), on: timers), Deadline.after(.seconds(2), on: timers))
        #expect(soon.isEarlier(than: late) && !late.isEarlier(than: soon) && !soon.isEarlier(than: soon))
        let (hour, day) = (Deadline.after(.seconds(3_600)), Deadline.after(.seconds(86_400)))
        #expect(hour.isEarlier(than: day) && !day.isEarlier(than: hour) && !hour.isEarlier(than: hour))
        // Those of two clocks are compared by what they leave.
        #expect(late.isEarlier(than: hour) && !hour.isEarlier(than: late))
        #expect(Deadline.after(.zero, on: ManualTimers()).isEarlier(than: soon))
    }

    @Test func instantIsConvertedToOtherClock() {
        let others = ManualTimers()
        others.advance(by: .seconds(100))
        let deadline = Deadline.after(.seconds(5), on: timers)
        timers.advance(by: .seconds(1))
        #expect(deadline.instant(on: timers, at: timers.now) == TimerInstant(nanoseconds: 5_000_000_000))
        #expect(deadline.instant(on: others, at: others.now) == others.now.advanced(by: .seconds(4)))
    }

    @Test func dumpDoesNotShowTimers() {
        #expect(Mirror(reflecting: Deadline.after(.seconds(1), on: timers)).children.isEmpty)
    }
}
