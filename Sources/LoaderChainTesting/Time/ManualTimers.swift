// Time: timers whose clock a test controls. It uses no other folder.

import LoaderChain
import LoaderChainPlatformFoundation

/// Timers whose clock is controlled by a test.
///
/// The clock stays at instant 0 until ``advance(by:)``, ``advanceToNext()`` or ``runAll(limit:)`` moves it. Each of them runs the
/// timers that become due, on the calling thread, and returns when all have run.
///
/// ```swift
/// let timers = ManualTimers()
/// let answer = Task { try await loader.load(request) }
/// await timers.waitForPending(count: 1)  // The first attempt has failed, and the retry waits.
/// timers.advance(by: .seconds(1))
/// ```
///
/// Any thread may read the clock, schedule and cancel, and so may a running action. Only one thread at a time may advance the
/// clock, and an action may not; that is a programming error, and stops the test.
public final class ManualTimers: Timers {
    /// The date that the clock shows at the start by default: the first moment of 2024.
    public static let defaultDate = Date(timeIntervalSince1970: 1_704_067_200)

    private let state: Awaited<ManualTimersState>
    private let onSchedule: @Sendable () -> Void

    /// Makes timers at instant 0, where the wall clock shows `date`.
    public convenience init(date: Date = ManualTimers.defaultDate) { self.init(date: date) {} }

    /// Makes timers that call `onSchedule` for each timer that has begun to wait.
    init(date: Date = ManualTimers.defaultDate, onSchedule: @escaping @Sendable () -> Void) {
        state = Awaited(ManualTimersState(date: date))
        self.onSchedule = onSchedule
    }

    deinit {
        for timer in state.change({ $0.removeAll() }) { timer.drop() }
    }

    /// The instant to which the test has advanced the clock, or the deadline of the timer whose action is running.
    public var now: TimerInstant { state.read(\.now) }

    /// The date that the test has set, advanced with the clock.
    public var date: Date { state.read(\.date) }

    /// Schedules `action` for `deadline`; if the deadline has passed, it runs the next time the clock is advanced.
    @discardableResult
    public func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        let timer = ManualTimer(owner: self, action: action)
        state.change { $0.insert(timer, at: deadline) }
        onSchedule()
        return timer
    }

    // MARK: - Pending timers

    /// The number of waiting timers.
    public var pendingCount: Int { state.read(\.pendingCount) }

    /// The earliest deadline of the waiting timers; it is never before `now`.
    public var nextDeadline: TimerInstant? { state.read(\.nextDeadline) }

    /// Suspends the task until at least `count` timers wait at once, or until the task is cancelled.
    public func waitForPending(count: Int) async {
        await state.wait(until: { $0.pendingCount >= count })
    }

    // MARK: - Advancing the clock

    /// Advances the clock by `duration` and runs all timers that become due, including those that their actions schedule.
    ///
    /// With a duration of zero or less, the clock stays, and timers that are already due run.
    public func advance(by duration: Duration) {
        move {
            let target = now.advanced(by: max(duration, .zero))
            while runNext(by: target) {}
            state.change { $0.now = target }
        }
    }

    /// Advances the clock to the earliest deadline and runs all timers that are due then.
    ///
    /// - Returns: whether any timer was waiting.
    @discardableResult
    public func advanceToNext() -> Bool {
        move {
            guard let target = nextDeadline else { return false }
            while runNext(by: target) {}
            return true
        }
    }

    /// Advances the clock from deadline to deadline until no timer waits, or until `limit` actions have run.
    ///
    /// The limit stops actions that schedule one another forever.
    ///
    /// - Returns: how many actions have run.
    @discardableResult
    public func runAll(limit: Int = 10_000) -> Int {
        move {
            let endOfTime = TimerInstant(nanoseconds: .max)
            var count = 0
            while count < limit, runNext(by: endOfTime) { count += 1 }
            return count
        }
    }

    /// Sets the wall clock to `date`, from where it advances with the clock again.
    ///
    /// This does not affect timers.
    public func setDate(_ date: Date) { state.change { $0.setDate(date) } }

    /// Moves the wall clock by `duration`, backwards if it is negative.
    ///
    /// This does not affect timers.
    public func stepDate(by duration: Duration) {
        state.change { $0.setDate($0.date.addingTimeInterval(duration / .seconds(1))) }
    }

    /// Runs `body` while no other call advances the clock.
    private func move<Result>(_ body: () -> Result) -> Result {
        let wasMoving = state.change { replace(&$0.isMoving, with: true) }
        precondition(!wasMoving, "ManualTimers: the clock is advanced by an action or a second thread at the same time")
        defer { state.change { $0.isMoving = false } }
        return body()
    }

    /// Runs the first timer that is due by `target`, with the clock at its deadline.
    private func runNext(by target: TimerInstant) -> Bool {
        guard let timer = state.change({ $0.removeNext(by: target) }) else { return false }
        timer.run()
        return true
    }

    /// Removes a timer; false if it has been removed already.
    func remove(_ timer: ManualTimer) -> Bool { state.change { $0.remove(timer) } }
}
