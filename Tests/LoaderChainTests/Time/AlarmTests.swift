import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct AlarmTests {
    private let timers = ManualTimers()

    private func instant(_ seconds: Int64) -> TimerInstant { TimerInstant(nanoseconds: seconds * 1_000_000_000) }

    private func timer() -> any ScheduledTimer { timers.schedule(after: .seconds(1)) {} }

    @Test func anAlarmForTheSameMomentIsNotSetAgain() throws {
        var alarm = Alarm()
        let none = alarm.set(for: nil)
        let first = alarm.set(for: instant(5))
        let again = alarm.set(for: instant(5))
        #expect(none?.setting == nil && first?.setting?.due == instant(5) && again?.setting == nil)
        let refused = alarm.keep(timer(), of: try #require(first?.setting).number)
        #expect(refused == nil)
        let second = alarm.set(for: instant(4))
        #expect(second?.setting?.due == instant(4) && second?.old != nil)
        let third = alarm.set(for: nil)
        #expect(third != nil && third?.setting == nil && third?.old == nil && !alarm.isSet)
    }

    @Test func aTimerOfAnOldSettingIsTurnedDown() throws {
        var alarm = Alarm()
        let (first, second) = (alarm.set(for: instant(5)), alarm.set(for: instant(4)))
        let (old, new) = (try #require(first?.setting).number, try #require(second?.setting).number)
        let (refused, unheard) = (alarm.keep(timer(), of: old), alarm.ring(old))
        #expect(refused != nil && unheard == nil)
        let kept = alarm.keep(timer(), of: new)
        let (rung, twice) = (alarm.ring(new), alarm.ring(new))
        #expect(kept == nil && rung?.timer != nil && twice == nil)
    }

    @Test func anAlarmMayRingBeforeItsTimerWasKept() throws {
        var alarm = Alarm()
        let change = alarm.set(for: instant(5))
        let number = try #require(change?.setting).number
        let rung = alarm.ring(number)
        let refused = alarm.keep(timer(), of: number)
        #expect(rung != nil && rung?.timer == nil && refused != nil)
        // The same moment may be due again.
        let again = alarm.set(for: instant(5))
        #expect(again?.setting != nil)
    }

    @Test func aClearedAlarmKeepsAndHearsNothing() {
        var alarm = Alarm()
        let number = alarm.set()
        let kept = alarm.keep(timer(), of: number)
        let cleared = alarm.clear()
        let (rung, refused) = (alarm.ring(number), alarm.keep(timer(), of: number))
        #expect(kept == nil && cleared != nil && rung == nil && refused != nil && !alarm.isSet)
    }
}
