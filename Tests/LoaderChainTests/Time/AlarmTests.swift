import Foundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct AlarmTests {
    private let timers = LateTimers()
    private let alarm = Alarm()
    private let rings = Locked<[Int]>([])

    private var rung: [Int] { rings.withLock(\.self) }

    private func instant(_ seconds: Int64) -> TimerInstant { TimerInstant(nanoseconds: seconds * 1_000_000_000) }

    private func set(_ seconds: Int64?, ring number: Int = 0) {
        alarm.set(on: timers, for: { seconds.map(instant) }) { [rings] in rings.withLock { $0.append(number) } }
    }

    @Test func alarmForSameInstantIsNotRescheduled() {
        set(nil)
        set(5)
        set(5)
        #expect(timers.deadlines == [instant(5)] && timers.cancelled == [])
        set(4)
        #expect(timers.deadlines == [instant(5), instant(4)] && timers.cancelled == [0])
        set(nil)
        set(nil)
        #expect(timers.deadlines.count == 2 && timers.cancelled == [0, 1])
    }

    @Test func timerOfEarlierSettingIsIgnored() {
        set(5, ring: 1)
        set(4, ring: 2)
        timers.fire(0)
        #expect(rung == [])
        timers.fire(1)
        timers.fire(1)
        #expect(rung == [2])
        // The same moment may be due again.
        set(4, ring: 3)
        timers.fire(1)
        #expect(rung == [2])
        timers.fire(2)
        #expect(rung == [2, 3])
    }

    @Test func alarmMayRingBeforeTimerIsStored() {
        timers.firesEarly = true
        set(5, ring: 1)
        #expect(rung == [1] && timers.cancelled == [0])
        timers.firesEarly = false
        set(5, ring: 2)
        #expect(timers.cancelled == [0])
        timers.fire(1)
        #expect(rung == [1, 2])
    }

    @Test func endedAlarmDoesNotRing() {
        set(5)
        alarm.end()
        #expect(timers.cancelled == [0])
        timers.fire(0)
        #expect(rung == [])
    }

    @Test func overtakenSetCallSchedulesNothing() {
        // This call asked for the moment before the state was changed, and comes after the thread that changed it.
        alarm.set(
            on: timers,
            for: {
                set(4, ring: 2)
                return instant(5)
            }
        ) { [rings] in rings.withLock { $0.append(1) } }
        #expect(timers.deadlines == [instant(4)] && timers.cancelled == [])
        alarm.set(
            on: timers,
            for: {
                alarm.end()
                return instant(3)
            }
        ) { [rings] in rings.withLock { $0.append(1) } }
        #expect(timers.deadlines == [instant(4)] && timers.cancelled == [0])
    }

    @Test func lastConcurrentChangeDeterminesTimer() async {
        for round in 0..<200 {
            let alarm = Alarm()
            let timers = LateTimers()
            let state = Locked<(due: TimerInstant?, changes: Int64)>((nil, 0))
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<5 {
                            state.withLock {
                                $0.changes += 1
                                $0.due = $0.changes % 3 == 0 ? nil : instant($0.changes)
                            }
                            alarm.set(on: timers, for: { state.withLock(\.due) }) {}
                        }
                    }
                }
            }
            #expect(timers.alive == state.withLock { $0.due.map { [$0] } ?? [] }, "round \(round)")
        }
    }
}

/// Timers that fire when a test says so, also after they were cancelled.
private final class LateTimers: Timers {
    private struct State {
        var actions: [@Sendable () -> Void] = []
        var deadlines: [TimerInstant] = []
        var cancelled: [Int] = []
        var firesEarly = false
    }

    private let state = Locked(State())

    var now: TimerInstant { TimerInstant(nanoseconds: 0) }
    var date: Date { Date(timeIntervalSince1970: 0) }
    var deadlines: [TimerInstant] { state.withLock(\.deadlines) }
    var cancelled: [Int] { state.withLock(\.cancelled) }
    /// The deadlines of what was not cancelled.
    var alive: [TimerInstant] {
        state.withLock { state in
            state.deadlines.indices.filter { !state.cancelled.contains($0) }.map { state.deadlines[$0] }
        }
    }

    /// Whether another thread is so quick that an action has run before its timer is returned.
    var firesEarly: Bool {
        get { state.withLock(\.firesEarly) }
        set { state.withLock { $0.firesEarly = newValue } }
    }

    func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        let number = state.withLock { state in
            state.actions.append(action)
            state.deadlines.append(deadline)
            return state.actions.count - 1
        }
        if firesEarly { action() }
        return Timer(number: number, timers: self)
    }

    func fire(_ number: Int) { state.withLock { $0.actions[number] }() }

    private final class Timer: ScheduledTimer {
        let number: Int
        let timers: LateTimers

        init(number: Int, timers: LateTimers) { (self.number, self.timers) = (number, timers) }

        func cancel() -> Bool {
            timers.state.withLock { $0.cancelled.append(number) }
            return true
        }
    }
}
