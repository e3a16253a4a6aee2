import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Timers whose clock a test moves by hand.
///
/// The clock stands at instant 0 until ``advance(by:)``, ``advanceToNext()`` or ``runAll(limit:)`` moves it. Each runs
/// what falls due on its way, on the thread that called it, and returns when all of that has run.
///
/// ```swift
/// let timers = ManualTimers()
/// let answer = Task { try await loader.load(request) }
/// await timers.waitForPending(count: 1)  // The first attempt has failed, and the retry waits.
/// timers.advance(by: .seconds(1))
/// ```
///
/// Any thread may read the clock, schedule and cancel, and so may an action while it runs. Only one thread at a time
/// moves the clock, and an action does not: that would be a fault of the test, and stops it.
public final class ManualTimers: Timers {
    /// The date that the clock shows at the start unless the test says otherwise: the first moment of 2024.
    public static let defaultDate = Date(timeIntervalSince1970: 1_704_067_200)

    private let state: Guarded<ManualTimersState>

    /// Timers at instant 0, where the wall clock shows `date`.
    public init(date: Date = ManualTimers.defaultDate) {
        state = Guarded(ManualTimersState(date: date))
    }

    deinit {
        for timer in state.withLock({ $0.agenda.removeAll() }) { timer.drop() }
    }

    /// The instant to which the test has moved the clock, or the deadline of the timer whose action runs.
    public var now: TimerInstant {
        state.withLock { $0.now }
    }

    /// The date that the test has set, moved on along with the clock.
    public var date: Date {
        state.withLock { $0.date }
    }

    /// Lets `action` wait until the clock is moved to `deadline`, or moved at all if the deadline has passed.
    @discardableResult
    public func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        let timer = ManualTimer(owner: self, action: action)
        let satisfied = state.withLock { $0.insert(timer, at: deadline) }
        for waiter in satisfied { waiter.resume() }
        return timer
    }

    // MARK: - What waits

    /// How many timers wait.
    public var pendingCount: Int {
        state.withLock { $0.agenda.count }
    }

    /// The earliest deadline of those that wait; the present, if one was late when it was scheduled.
    public var nextDeadline: TimerInstant? {
        state.withLock { $0.agenda.first?.deadline }
    }

    /// Suspends the task until at least `count` timers wait at once, or until the task is cancelled.
    public func waitForPending(count: Int) async {
        let id = state.withLock { $0.makeWaiterID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { $0.wait(as: id, count: count, continuation) }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.removeWaiter(id) }?.resume()
        }
    }

    // MARK: - Moving the clock

    /// Moves the clock by `duration` and runs what falls due, including timers that these very actions schedule.
    ///
    /// A duration of zero or less moves nothing, and runs what is due already.
    public func advance(by duration: Duration) {
        move {
            let target = now.advanced(by: max(duration, .zero))
            while runNext(by: target) {}
            state.withLock { $0.now = target }
        }
    }

    /// Moves the clock to the earliest deadline and runs all that is due then.
    ///
    /// - Returns: Whether anything was waiting.
    @discardableResult
    public func advanceToNext() -> Bool {
        move {
            guard let target = nextDeadline else { return false }
            while runNext(by: target) {}
            return true
        }
    }

    /// Moves the clock from deadline to deadline until nothing waits, or until `limit` actions have run.
    ///
    /// The limit is for actions that schedule one another for ever.
    ///
    /// - Returns: How many actions have run.
    @discardableResult
    public func runAll(limit: Int = 10_000) -> Int {
        move {
            let endOfTime = TimerInstant(nanoseconds: .max)
            var count = 0
            while count < limit, runNext(by: endOfTime) { count += 1 }
            return count
        }
    }

    /// Lets the wall clock jump to `date`, from where it moves along with the clock again.
    ///
    /// No timer notices.
    public func setDate(_ date: Date) {
        state.withLock { $0.setDate(date) }
    }

    /// Lets the wall clock jump by `duration`, back if it is negative.
    ///
    /// No timer notices.
    public func stepDate(by duration: Duration) {
        state.withLock { $0.setDate($0.date.addingTimeInterval(duration / .seconds(1))) }
    }

    /// Runs `body` as the only one that moves the clock.
    private func move<Result>(_ body: () -> Result) -> Result {
        let wasMoving = state.withLock { state in
            defer { state.isMoving = true }
            return state.isMoving
        }
        precondition(!wasMoving, "ManualTimers: an action, or a second thread, moves the clock while it is being moved")
        defer { state.withLock { $0.isMoving = false } }
        return body()
    }

    /// Runs the first timer that is due by `target`, with the clock at its deadline.
    private func runNext(by target: TimerInstant) -> Bool {
        guard let timer = state.withLock({ $0.removeNext(by: target) }) else { return false }
        timer.run()
        return true
    }

    /// Takes a timer out, unless it has been taken already.
    func remove(_ timer: ManualTimer) -> Bool {
        state.withLock { $0.agenda.remove(timer) }
    }
}
