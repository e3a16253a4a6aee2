import LoaderChain
import LoaderChainPlatformFoundation

/// The state of manual timers, behind their lock.
struct ManualTimersState {
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

    /// Removes a timer, and returns whether it was here.
    mutating func remove(_ timer: ManualTimer) -> Bool { timer.ticket.flatMap { wheel.remove($0) } != nil }

    /// Removes the first timer that is due by `target`, and advances the clock to its deadline.
    mutating func removeNext(by target: TimerInstant) -> ManualTimer? {
        guard let deadline = nextDeadline, deadline <= target else { return nil }
        now = deadline
        return wheel.advance(to: UInt64(deadline.nanoseconds))
    }

    /// Removes all timers, when no more can be inserted.
    mutating func removeAll() -> [ManualTimer] {
        var all: [ManualTimer] = []
        while let timer = wheel.advance(to: .max) { all.append(timer) }
        return all
    }
}

/// A timer of the state, which alone says whether it waits; what removes it there owns its action.
final class ManualTimer: ScheduledTimer, @unchecked Sendable {
    /// What it is removed by; guarded by the lock of its owner.
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
