import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The state of manual timers, behind their lock.
///
/// Its methods decide, and return what to do after unlocking.
struct ManualTimersState {
    var now = TimerInstant(nanoseconds: 0)
    var isMoving = false
    var agenda = ManualAgenda()

    private var dateLastSet: Date
    private var instantOfSetting = TimerInstant(nanoseconds: 0)
    private var waiters: [Waiter] = []
    private var lastWaiterID = 0
    private var lastSequence = 0

    private struct Waiter {
        let id: Int
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    init(date: Date) {
        dateLastSet = date
    }

    // MARK: - The wall clock

    var date: Date {
        dateLastSet.addingTimeInterval(instantOfSetting.duration(to: now) / .seconds(1))
    }

    mutating func setDate(_ date: Date) {
        dateLastSet = date
        instantOfSetting = now
    }

    // MARK: - Timers

    /// Puts a timer on the agenda.
    ///
    /// - Returns: the continuations of the waits that it has fulfilled.
    mutating func insert(_ timer: ManualTimer, at deadline: TimerInstant) -> [CheckedContinuation<Void, Never>] {
        lastSequence += 1
        // A deadline in the past counts as the present, so the clock need not be turned back.
        agenda.insert(timer, at: max(deadline, now), sequence: lastSequence)
        guard !waiters.isEmpty else { return [] }
        let satisfied = waiters.filter { $0.count <= agenda.count }
        waiters.removeAll { $0.count <= agenda.count }
        return satisfied.map(\.continuation)
    }

    /// Removes the first timer that is due by `target`, and advances the clock to its deadline.
    mutating func removeNext(by target: TimerInstant) -> ManualTimer? {
        guard let first = agenda.first, first.deadline <= target else { return nil }
        now = first.deadline
        _ = agenda.remove(first)
        return first
    }

    // MARK: - Waiting for timers

    mutating func makeWaiterID() -> Int {
        lastWaiterID += 1
        return lastWaiterID
    }

    /// Stores a continuation until `count` timers wait.
    ///
    /// - Returns: `false` if there is nothing to wait for: enough timers wait, or the calling task is cancelled.
    mutating func wait(as id: Int, count: Int, _ continuation: CheckedContinuation<Void, Never>) -> Bool {
        // A task is marked as cancelled before its cancellation handler runs. If the handler took the lock first and found
        // no waiter, `isCancelled` is true here; if it comes later, it finds this waiter.
        guard agenda.count < count, !Task.isCancelled else { return false }
        waiters.append(Waiter(id: id, count: count, continuation: continuation))
        return true
    }

    mutating func removeWaiter(_ id: Int) -> CheckedContinuation<Void, Never>? {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return waiters.remove(at: index).continuation
    }
}
