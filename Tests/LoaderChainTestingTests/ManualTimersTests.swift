import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestProcesses
import Testing

@Suite(.timeLimit(.minutes(10))) struct ManualTimersTests {
    @Test func clockStandsStillUntilAdvanced() {
        let timers = ManualTimers()
        #expect(timers.now == .seconds(0))
        #expect(timers.date == ManualTimers.defaultDate)
        timers.advance(by: .milliseconds(1_500))
        #expect(timers.now == .seconds(1.5))
        timers.advance(by: .seconds(-1))
        #expect(timers.now == .seconds(1.5))
    }

    @Test func actionsRunInOrderOfDeadlineThenScheduling() {
        let timers = ManualTimers()
        let log = Log(timers)
        for (name, seconds) in [("c", 3), ("a1", 1), ("b", 2), ("a2", 1), ("d", 4), ("a3", 1)] {
            timers.schedule(after: .seconds(seconds)) { log.write(name) }
        }
        timers.advance(by: .seconds(3))
        #expect(log.lines == ["a1 at 1.0", "a2 at 1.0", "a3 at 1.0", "b at 2.0", "c at 3.0"])
        #expect(timers.pendingCount == 1)
        #expect(timers.nextDeadline == .seconds(4))
    }

    @Test func dueTimersScheduledByActionRunInSameAdvance() {
        let timers = ManualTimers()
        let log = Log(timers)
        timers.schedule(after: .seconds(1)) { [unowned timers] in
            log.write("first")
            timers.schedule(after: .seconds(1)) { log.write("second") }
            timers.schedule(after: .zero) { log.write("at once") }
            timers.schedule(after: .seconds(5)) { log.write("too late") }
        }
        timers.advance(by: .seconds(4))
        #expect(log.lines == ["first at 1.0", "at once at 1.0", "second at 2.0"])
        #expect(timers.now == .seconds(4))
        #expect(timers.nextDeadline == .seconds(6))
    }

    @Test func overdueTimerRunsInNextAdvanceAtCurrentTime() {
        let timers = ManualTimers()
        let log = Log(timers)
        timers.advance(by: .seconds(10))
        timers.schedule(at: .seconds(3)) { log.write("overdue") }
        #expect(log.lines.isEmpty)
        timers.advance(by: .zero)
        #expect(log.lines == ["overdue at 10.0"])
    }

    @Test func actionMayCancelTimerDueAtSameTime() {
        let timers = ManualTimers()
        let log = Log(timers)
        let victim = Locked<(any ScheduledTimer)?>(nil)
        timers.schedule(after: .seconds(1)) { log.write("cancelled \(victim.withLock { $0 }?.cancel() == true)") }
        let second = timers.schedule(after: .seconds(1)) { log.write("ran") }
        victim.withLock { $0 = second }
        timers.advance(by: .seconds(1))
        #expect(log.lines == ["cancelled true at 1.0"])
    }

    @Test func advanceToNextStopsAtEachDeadline() {
        let timers = ManualTimers()
        let log = Log(timers)
        #expect(!timers.advanceToNext())
        for seconds in [2, 2, 7] { timers.schedule(after: .seconds(seconds)) { log.write("x") } }
        #expect(timers.advanceToNext())
        #expect(log.lines == ["x at 2.0", "x at 2.0"])
        #expect(timers.advanceToNext())
        #expect(timers.now == .seconds(7))
        #expect(!timers.advanceToNext())
    }

    @Test func runAllStopsWhenNothingWaitsOrAtTheLimit() {
        let timers = ManualTimers()
        let log = Log(timers)
        for seconds in [1, 100, 10_000] { timers.schedule(after: .seconds(seconds)) { log.write("x") } }
        #expect(timers.runAll() == 3)
        #expect(timers.now == .seconds(10_000))

        scheduleWithoutEnd(timers)
        #expect(timers.runAll(limit: 25) == 25)
        #expect(timers.now == .seconds(10_025))
        #expect(timers.pendingCount == 1)
    }

    @Test func dateAdvancesWithClockAndCanBeSet() {
        let timers = ManualTimers(date: Date(timeIntervalSince1970: 1_000))
        let log = Log(timers)
        timers.schedule(after: .seconds(60)) { log.write("x") }
        timers.advance(by: .seconds(30))
        #expect(timers.date == Date(timeIntervalSince1970: 1_030))
        timers.setDate(Date(timeIntervalSince1970: 5_000))
        timers.advance(by: .seconds(10))
        #expect(timers.date == Date(timeIntervalSince1970: 5_010))
        timers.stepDate(by: .seconds(-3_600))
        #expect(timers.date == Date(timeIntervalSince1970: 1_410))
        #expect(timers.now == .seconds(40))
        #expect(log.lines.isEmpty)
    }

    @Test func extremeDurationsDoNotOverflow() {
        let timers = ManualTimers()
        let log = Log(timers)
        timers.schedule(after: Duration(attoseconds: .max)) { log.write("end") }
        timers.schedule(after: Duration(attoseconds: .min)) { log.write("beginning") }
        timers.advance(by: .seconds(1))
        #expect(log.lines == ["beginning at 0.0"])
        timers.advance(by: Duration(attoseconds: .max))
        #expect(log.lines.count == 2)
        #expect(timers.now == TimerInstant(nanoseconds: .max))
    }

    @Test func overdueTimersRunInOrderOfScheduling() {
        let timers = ManualTimers()
        let log = Log(timers)
        timers.advance(by: .seconds(10))
        for seconds in [5, 3] { timers.schedule(at: .seconds(Double(seconds))) { log.write("\(seconds)") } }
        #expect(timers.nextDeadline == .seconds(10))
        timers.advanceToNext()
        #expect(log.lines == ["5 at 10.0", "3 at 10.0"])
    }

    #if os(Linux) || os(macOS)
        @Test func actionThatAdvancesClockTraps() async {
            await #expect(processExitsWith: .failure) {
                trapWithoutBacktrace()
                let timers = ManualTimers()
                timers.schedule(after: .seconds(1)) { [unowned timers] in timers.advance(by: .seconds(1)) }
                timers.advance(by: .seconds(1))
            }
        }
    #endif

    @Test func waitForPendingReturnsWhenEnoughTimersWait() async {
        let timers = ManualTimers()
        let order = Locked<[String]>([])
        await timers.waitForPending(count: 0)
        let waiting = Task {
            await timers.waitForPending(count: 3)
            order.withLock { $0.append("three") }
        }
        for _ in 0..<3 {
            order.withLock { $0.append("one more") }
            timers.schedule(after: .seconds(1)) {}
        }
        await waiting.value
        #expect(order.withLock { $0 } == ["one more", "one more", "one more", "three"])
        await timers.waitForPending(count: 3)
    }

    @Test func cancelledTaskStopsWaitingForTimers() async {
        let timers = ManualTimers()
        let waiting = Task { await timers.waitForPending(count: 1) }
        waiting.cancel()
        await waiting.value
        #expect(timers.pendingCount == 0)
    }

    @Test func actionIsReleasedWhenCancelledRunOrDropped() {
        var timers: ManualTimers? = ManualTimers()
        weak var cancelled: Captured?
        weak var ran: Captured?
        weak var dropped: Captured?
        let kept = [1, 2, 3].compactMap { seconds in
            let object = Captured()
            if seconds == 1 { cancelled = object } else if seconds == 2 { ran = object } else { dropped = object }
            return timers?.schedule(after: .seconds(seconds)) { withExtendedLifetime(object) {} }
        }
        #expect(kept[0].cancel())
        #expect(cancelled == nil)
        timers?.advance(by: .seconds(2))
        #expect(ran == nil)
        #expect(dropped != nil)
        weak var weakTimers: ManualTimers?
        weakTimers = timers
        timers = nil
        #expect(weakTimers == nil)
        #expect(dropped == nil)
        #expect(!kept[2].cancel())
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func randomTimersAndCancellationsAgreeWithASortedArray(
        seed: UInt64
    ) {
        var generator = SeededGenerator(seed: seed)
        let timers = ManualTimers()
        let ran = Locked<[Int]>([])
        var model: [(deadline: TimerInstant, number: Int, timer: any ScheduledTimer)] = []
        for number in 0..<400 {
            if number % 3 == 2, let index = model.indices.randomElement(using: &generator) {
                #expect(model.remove(at: index).timer.cancel(), "seed \(seed)")
            }
            let deadline = timers.now.advanced(by: .seconds(Int.random(in: 0..<60, using: &generator)))
            model.append((deadline, number, timers.schedule(at: deadline) { ran.withLock { $0.append(number) } }))
            if number % 50 == 49 {
                ran.withLock { $0 = [] }
                timers.advance(by: .seconds(Int.random(in: 0..<30, using: &generator)))
                let due = model.filter { $0.deadline <= timers.now }.sorted {
                    ($0.deadline, $0.number) < ($1.deadline, $1.number)
                }
                #expect(ran.withLock { $0 } == due.map(\.number), "seed \(seed)")
                model.removeAll { $0.deadline <= timers.now }
            }
            #expect(timers.pendingCount == model.count, "seed \(seed)")
            #expect(timers.nextDeadline == model.map(\.deadline).min(), "seed \(seed)")
        }
    }

    @Test func threadsMayScheduleAndCancelWhileTheClockAdvances() async {
        let timers = ManualTimers()
        let (ran, cancelled) = (Locked(0), Locked(0))
        // Only the task that advances the clock looks at it, so what it sees next is never earlier.
        let (latest, stepsBack) = (Locked(timers.now), Locked(0))
        let look: @Sendable () -> Void = { [unowned timers] in
            let now = timers.now
            let isBack = latest.withLock { latest in
                defer { latest = max(latest, now) }
                return now < latest
            }
            if isBack { stepsBack.withLock { $0 += 1 } }
        }
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for number in 0..<500 {
                        let timer = timers.schedule(after: .milliseconds(number % 7)) {
                            look()
                            ran.withLock { $0 += 1 }
                        }
                        if (number + thread) % 2 == 0, timer.cancel() { cancelled.withLock { $0 += 1 } }
                    }
                }
            }
            group.addTask {
                for _ in 0..<500 {
                    timers.advance(by: .milliseconds(1))
                    look()
                }
            }
        }
        timers.runAll()
        #expect(stepsBack.withLock { $0 } == 0)
        #expect(ran.withLock { $0 } + cancelled.withLock { $0 } == 2_000)
    }
}

private func scheduleWithoutEnd(_ timers: ManualTimers) {
    timers.schedule(after: .seconds(1)) { [unowned timers] in scheduleWithoutEnd(timers) }
}

private final class Captured: Sendable {}

/// Records which action ran when.
private final class Log: Sendable {
    private let entries = Locked<[String]>([])
    private let now: @Sendable () -> TimerInstant

    init(_ timers: ManualTimers) {
        now = { [unowned timers] in timers.now }
    }

    var lines: [String] { entries.withLock { $0 } }

    func write(_ line: String) {
        let seconds = TimerInstant.seconds(0).duration(to: now()) / .seconds(1)
        entries.withLock { $0.append("\(line) at \(seconds)") }
    }
}

extension TimerInstant {
    fileprivate static func seconds(_ seconds: Double) -> TimerInstant {
        TimerInstant(nanoseconds: 0).advanced(by: .seconds(seconds))
    }
}
