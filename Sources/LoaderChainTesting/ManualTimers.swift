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
            // Another thread may schedule a timer that is due by then after the last has run.
            repeat { while runNext(by: target) {} } while !state.change({ $0.reach(target) })
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
    /// - Returns: the number of actions that have run.
    @discardableResult
    public func runAll(limit: Int = 10_000) -> Int {
        move {
            let endOfTime = TimerInstant(nanoseconds: .max)
            var count = 0
            while count < limit, runNext(by: endOfTime) { count += 1 }
            return count
        }
    }

    // MARK: - The wall clock

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

    // MARK: - Moving

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
    fileprivate func remove(_ timer: ManualTimer) -> Bool { state.change { $0.remove(timer) } }
}

private struct ManualTimersState {
    var now = TimerInstant(nanoseconds: 0)
    var isMoving = false

    private var dateLastSet: Date
    private var instantOfSetting = TimerInstant(nanoseconds: 0)
    /// The waiting timers; a tick is a nanosecond of the clock, which begins at zero.
    private var wheel = TimerWheel<ManualTimer>(present: 0)

    init(date: Date) { dateLastSet = date }

    // MARK: - The wall clock

    var date: Date { dateLastSet.addingTimeInterval(instantOfSetting.duration(to: now) / .seconds(1)) }

    mutating func setDate(_ date: Date) {
        dateLastSet = date
        instantOfSetting = now
    }

    // MARK: - Timers

    var pendingCount: Int { wheel.count }

    var nextDeadline: TimerInstant? { wheel.firstDeadline.map { TimerInstant(nanoseconds: Int64($0)) } }

    mutating func insert(_ timer: ManualTimer, at deadline: TimerInstant) {
        // A deadline in the past counts as the present, so the clock need not be turned back.
        timer.ticket = wheel.insert(timer, at: UInt64(max(deadline, now).nanoseconds))
    }

    mutating func remove(_ timer: ManualTimer) -> Bool { timer.ticket.flatMap { wheel.remove($0) } != nil }

    /// Removes the first timer that is due by `target`, and advances the clock to its deadline.
    mutating func removeNext(by target: TimerInstant) -> ManualTimer? {
        guard let deadline = nextDeadline, deadline <= target else { return nil }
        now = deadline
        return wheel.advance(to: UInt64(deadline.nanoseconds))
    }

    /// Advances the clock to `target`; false, and it stays, if a timer is due by then.
    mutating func reach(_ target: TimerInstant) -> Bool {
        if let deadline = nextDeadline, deadline <= target { return false }
        now = target
        return true
    }

    /// Removes all timers, when no more can be inserted.
    mutating func removeAll() -> [ManualTimer] {
        var all: [ManualTimer] = []
        while let timer = wheel.advance(to: .max) { all.append(timer) }
        return all
    }
}

/// A timer of the state, which alone says whether it waits; what removes it there owns its action.
private final class ManualTimer: ScheduledTimer, @unchecked Sendable {
    /// The ticket to remove it by; guarded by the lock of its owner.
    fileprivate var ticket: TimerWheel<ManualTimer>.Ticket?
    private weak var owner: ManualTimers?
    private var action: (@Sendable () -> Void)?

    init(owner: ManualTimers, action: @escaping @Sendable () -> Void) {
        self.owner = owner
        self.action = action
    }

    func cancel() -> Bool {
        guard let owner, owner.remove(self) else { return false }
        drop()
        return true
    }

    func run() { replace(&action, with: nil)?() }

    func drop() { action = nil }
}
