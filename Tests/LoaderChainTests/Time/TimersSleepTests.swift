import LoaderChain
import LoaderChainTesting
import TestSizes
import Testing

@Suite(.timeLimit(.minutes(10))) struct TimersSleepTests {
    @Test func sleepEndsAfterItsDuration() async throws {
        let timers = ManualTimers()
        let sleep = Task { try await timers.sleep(for: .seconds(5)) }
        await timers.waitForPending(count: 1)
        #expect(timers.nextDeadline == TimerInstant(nanoseconds: 5_000_000_000))
        timers.advance(by: .seconds(5))
        try await sleep.value
        #expect(timers.pendingCount == 0)
    }

    @Test func cancelledSleepEndsAtOnceAndLeavesNoTimer() async {
        let timers = ManualTimers()
        let sleep = Task { try await timers.sleep(for: .seconds(5)) }
        await timers.waitForPending(count: 1)
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
        #expect(timers.pendingCount == 0)
    }

    @Test func cancelledTaskDoesNotSleep() async {
        let timers = ManualTimers()
        let sleep = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await timers.sleep(for: .zero)
        }
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }

    @Test func nonPositiveSleepReturnsAtOnce() async throws {
        let timers = ManualTimers()
        try await timers.sleep(for: .zero)
        try await timers.sleep(for: .seconds(-1))
        #expect(timers.pendingCount == 0)
    }

    @Test func systemTimersSleepForAtLeastDuration() async throws {
        let timers = SystemTimers()
        let start = timers.now
        try await timers.sleep(for: .milliseconds(3))
        #expect(start.duration(to: timers.now) >= .milliseconds(3))
    }

    @Test func racingSleepsAndCancellationsLeaveNoWakeUp() async throws {
        let timers = SystemTimers()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let sleep = Task { try await timers.sleep(for: .microseconds(number * 4)) }
                    if number % 2 == 0 { sleep.cancel() }
                    _ = await sleep.result
                }
            }
        }
        // A worker may have run the last action before the wake-up that was set for it.
        try await eventually("no wake-up is set") { !timers.isArmed }
    }
}
