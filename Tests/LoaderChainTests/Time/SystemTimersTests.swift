import Dispatch
import LoaderChain
import LoaderChainTesting
import Synchronization
import TestSizes
import Testing

@Suite(.timeLimit(.minutes(10))) struct SystemTimersTests {
    @Test func actionRunsNoEarlierThanItsDeadline() async {
        let timers = SystemTimers()
        for microseconds in [0, 1, 999, 1_000, 1_001, 2_500, 7_000] {
            let deadline = timers.now.advanced(by: .microseconds(microseconds))
            let ranAt = await withCheckedContinuation { continuation in
                timers.schedule(at: deadline) { [unowned timers] in continuation.resume(returning: timers.now) }
            }
            #expect(ranAt >= deadline)
        }
    }

    @Test func clockMatchesDispatchUptime() {
        for _ in 0..<100 {
            let before = DispatchTime.now().uptimeNanoseconds
            let now = SystemTimers.shared.now.nanoseconds
            let after = DispatchTime.now().uptimeNanoseconds
            #expect(before <= now && now <= after)
        }
    }

    @Test func actionsRunInOrderOfDeadlines() async {
        let timers = SystemTimers(lanes: 1)
        let order = Locked<[Int]>([])
        let start = await withCheckedContinuation { continuation in
            // The lane is busy with this action until all are scheduled; the timer that is due at once keeps the
            // others from being late already when they are scheduled, however long that takes.
            timers.schedule(after: .zero) { [unowned timers] in
                timers.schedule(after: .zero) {}
                let start = timers.now.advanced(by: .milliseconds(1))
                var generator = SeededGenerator(seed: 3)
                for number in (0..<200).shuffled(using: &generator) {
                    let deadline = start.advanced(by: .milliseconds(number))
                    timers.schedule(at: deadline) { order.withLock { $0.append(number) } }
                }
                continuation.resume(returning: start)
            }
        }
        await timers.reach(start.advanced(by: .milliseconds(200)))
        #expect(order.withLock { $0 } == Array(0..<200))
    }

    @Test func extremeDeadlinesDoNotOverflow() async {
        let timers = SystemTimers()
        let never = Atomic(0)
        let far = timers.schedule(after: Duration(attoseconds: .max)) { never.add(1, ordering: .relaxed) }
        await timers.reach(TimerInstant(nanoseconds: .min))
        await withCheckedContinuation { continuation in
            timers.schedule(after: Duration(attoseconds: .min)) { continuation.resume() }
        }
        #expect(far.cancel())
        #expect(never.load(ordering: .relaxed) == 0)
    }

    @Test func actionMayScheduleAndCancelTimers() async {
        let timers = SystemTimers()
        let ran = Atomic(0)
        let later = timers.schedule(after: .seconds(3_600)) { ran.add(1, ordering: .relaxed) }
        let cancelled = await withCheckedContinuation { continuation in
            timers.schedule(after: .milliseconds(1)) { [unowned timers] in
                timers.schedule(after: .zero) { continuation.resume(returning: later.cancel()) }
            }
        }
        #expect(cancelled)
        #expect(ran.load(ordering: .relaxed) == 0)
    }

    @Test func actionMayCancelTimerDueAtSameTime() async {
        let timers = SystemTimers(lanes: 1)
        let ran = Atomic(0)
        let cancelled = await withCheckedContinuation { continuation in
            // The lane is busy with this action until both timers are due.
            timers.schedule(after: .zero) { [unowned timers] in
                let deadline = timers.now
                let victim = Locked<(any ScheduledTimer)?>(nil)
                timers.schedule(at: deadline) { continuation.resume(returning: victim.withLock { $0 }?.cancel()) }
                let second = timers.schedule(at: deadline) { ran.add(1, ordering: .relaxed) }
                victim.withLock { $0 = second }
            }
        }
        await timers.reach(timers.now.advanced(by: .milliseconds(1)))
        #expect(cancelled == true)
        #expect(ran.load(ordering: .relaxed) == 0)
    }

    @Test func wakeUpIsArmedOnlyWhileTimersWait() async {
        let timers = SystemTimers()
        #expect(!timers.isArmed)
        // Far enough that the wheel's next step towards them is not within a minute, for which a wake-up would be kept.
        let first = timers.schedule(after: .seconds(400 * 86_400)) {}
        let second = timers.schedule(after: .seconds(200 * 86_400)) {}
        #expect(timers.isArmed)
        second.cancel()
        #expect(timers.isArmed)
        first.cancel()
        #expect(!timers.isArmed)

        await timers.reach(timers.now)
        #expect(!timers.isArmed)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func timerEitherRunsOnceOrIsCancelledOnce(seed: UInt64) async throws {
        // Every second time, the actions race with each other too.
        let timers = seed % 2 == 0 ? SystemTimers(lanes: 1) : SystemTimers()
        let count = 3_000
        let race = Race(count: count)
        let orders = (0..<3 as Range<UInt64>).map { thread in
            var generator = SeededGenerator(seed: 3 * seed + thread)
            return Array(0..<count).shuffled(using: &generator)
        }
        let started = DispatchSemaphore(value: 0)
        let scheduled = await withCheckedContinuation { continuation in
            // This action keeps a lane busy until a first task cancels, so that the two go on side by side.
            timers.schedule(after: .zero) { [unowned timers] in
                let deadline = timers.now
                let all = (0..<count).map { number in timers.schedule(at: deadline) { race.ran(number) } }
                continuation.resume(returning: all)
                started.wait()
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for order in orders {
                group.addTask {
                    started.signal()
                    for number in order where scheduled[number].cancel() { race.cancelled(number) }
                }
            }
        }
        try await eventually("seed \(seed): all have ended") { race.outcomes.allSatisfy { $0 != 0 } }
        await timers.reach(timers.now.advanced(by: .milliseconds(1)))
        #expect(race.outcomes.allSatisfy { $0 == Race.ran || $0 == Race.cancelled }, "seed \(seed)")
    }

    @Test(arguments: [1, 128])
    func timersScheduledByManyThreadsAllRun(lanes: Int) async throws {
        let timers = SystemTimers(lanes: lanes)
        let race = Race(count: 4_000)
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(thread))
                    for number in (thread * 1_000)..<(thread * 1_000 + 1_000) {
                        let delay = Duration.microseconds(UInt64.random(in: 0...5_000, using: &generator))
                        timers.schedule(after: delay) { race.ran(number) }
                    }
                }
            }
        }
        try await eventually("all have run") { race.outcomes.allSatisfy { $0 != 0 } }
        await timers.reach(timers.now.advanced(by: .milliseconds(6)))
        #expect(race.outcomes.allSatisfy { $0 == Race.ran })
    }
}

@Suite(.timeLimit(.minutes(10))) struct TimeSystemTimersReleaseTests {
    @Test func cancelledTimerReleasesItsAction() {
        let timers = SystemTimers()
        weak var captured: Captured?
        let timer = scheduleCapturing(&captured, with: timers, after: .seconds(3_600))
        #expect(captured != nil)
        #expect(timer.cancel())
        #expect(captured == nil)
        #expect(!timer.cancel())
    }

    @Test func timerThatHasRunReleasesItsAction() async throws {
        let timers = SystemTimers(lanes: 1)
        weak var captured: Captured?
        let timer = scheduleCapturing(&captured, with: timers, after: .zero)
        await timers.reach(timers.now.advanced(by: .milliseconds(1)))
        // The lane may have run both in a row, and lets go of the first only when it has no more to run.
        try await eventually("the action is released") { captured == nil }
        #expect(!timer.cancel())
    }

    @Test func releasedTimersDropWaitingActions() {
        weak var captured: Captured?
        weak var kept: (any ScheduledTimer)?
        var timers: SystemTimers? = SystemTimers()
        weak var weakTimers: SystemTimers?
        weakTimers = timers
        var timer = timers.map { scheduleCapturing(&captured, with: $0, after: .seconds(3_600)) }
        kept = timer
        timers = nil
        #expect(weakTimers == nil)
        #expect(captured == nil)
        #expect(timer?.cancel() == false)
        timer = nil
        #expect(kept == nil)
    }

    @Test func actionStaysScheduledWhenItsTimerIsNotKept() {
        weak var captured: Captured?
        var timers: SystemTimers? = SystemTimers()
        if let timers { _ = scheduleCapturing(&captured, with: timers, after: .seconds(3_600)) }
        #expect(captured != nil)
        timers = nil
        #expect(captured == nil)
    }

    @Test func timersMayBeReleasedByTheirOwnAction() async {
        let holder = Locked<SystemTimers?>(SystemTimers())
        await withCheckedContinuation { continuation in
            let timers = holder.withLock { $0 }
            let captured = Captured { continuation.resume() }
            timers?.schedule(after: .seconds(3_600)) { withExtendedLifetime(captured) {} }
            timers?.schedule(after: .milliseconds(1)) {
                let last = holder.withLock { timers in
                    defer { timers = nil }
                    return timers
                }
                withExtendedLifetime(last) {}
            }
        }
    }

    @Test func hundredThousandTimersOfOneDeadlineAreReleased() {
        let timers = SystemTimers()
        let deadline = timers.now.advanced(by: .seconds(3_600))
        for _ in 0..<100_000 { timers.schedule(at: deadline) {} }
        #expect(timers.isArmed)
    }

    private func scheduleCapturing(
        _ captured: inout Captured?, with timers: SystemTimers, after delay: Duration
    ) -> any ScheduledTimer {
        let object = Captured()
        captured = object
        return timers.schedule(after: delay) { withExtendedLifetime(object) {} }
    }
}

private final class Captured: Sendable {
    private let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void = {}) {
        self.onRelease = onRelease
    }

    deinit {
        onRelease()
    }
}

/// How each of many timers ended.
///
/// One that ends twice, in whatever way, shows a sum that stands for neither way.
private final class Race: Sendable {
    static let ran = 1
    static let cancelled = 1_000

    private let sums: Locked<[Int]>

    init(count: Int) {
        sums = Locked(Array(repeating: 0, count: count))
    }

    var outcomes: [Int] { sums.withLock { $0 } }

    func ran(_ number: Int) { sums.withLock { $0[number] += Self.ran } }

    func cancelled(_ number: Int) { sums.withLock { $0[number] += Self.cancelled } }
}

extension SystemTimers {
    /// Returns after everything due before `instant` has begun and, if there is one lane, has ended.
    fileprivate func reach(_ instant: TimerInstant) async {
        await withCheckedContinuation { continuation in
            schedule(at: instant) { continuation.resume() }
        }
    }
}
