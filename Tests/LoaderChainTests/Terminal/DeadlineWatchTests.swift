import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct DeadlineWatchTests {
    /// Timers that fire a while before their time, as those of another clock may.
    private final class EarlyTimers: Timers {
        let timers: ManualTimers
        init(_ timers: ManualTimers) { self.timers = timers }

        var now: TimerInstant { timers.now }
        var date: Date { timers.date }

        func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
            let left = now.duration(to: deadline)
            return timers.schedule(at: now.advanced(by: left > .seconds(1) ? left - .seconds(1) : left), action)
        }
    }

    @Test func earlyTimerIsRescheduled() {
        let timers = ManualTimers()
        let rings = Locked<[TimerInstant]>([])
        let watch = DeadlineWatch(EarlyTimers(timers)) { now in
            rings.withLock { $0.append(now) }
            return nil
        }
        let deadline = timers.now.advanced(by: .seconds(5))
        watch.note(deadline)
        timers.runAll()
        #expect(rings.withLock { $0 } == [deadline])
    }

    @Test func watchRingsForEarliestThenRemainingDeadlines() {
        let timers = ManualTimers()
        let left = Locked<Set<TimerInstant>>([])
        let rings = Locked<[TimerInstant]>([])
        let watch = DeadlineWatch(timers) { now in
            rings.withLock { $0.append(now) }
            return left.withLock { left in
                left = left.filter { $0 > now }
                return left.min()
            }
        }
        let deadlines = [7, 3, 5, 3].map { TimerInstant(nanoseconds: 0).advanced(by: .seconds($0)) }
        for deadline in deadlines {
            left.withLock { _ = $0.insert(deadline) }
            watch.note(deadline)
        }
        #expect(timers.pendingCount == 1)
        timers.runAll()
        #expect(rings.withLock { $0 } == [deadlines[1], deadlines[2], deadlines[0]])
    }
}
