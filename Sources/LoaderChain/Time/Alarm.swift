import Synchronization

/// Rings at the instant that its owner's state names, which any thread may move or take back.
///
/// The owner changes its state under its own lock. After a change that may move the instant, and under no lock, it sets the alarm,
/// which then asks for the instant:
///
///     alarm.set(on: timers, for: { state.withLock(\.pauseEnd) }) { [weak self] in self?.endPause() }
///
/// Threads may get here in another order than they changed the state in. So each call gets a number before it asks. A call that
/// was overtaken sets nothing: the later call asked later, and knows everything that the earlier one knew.
///
/// Each setting rings once at most. A timer of an earlier setting does nothing, also one that fires while it is being cancelled, or
/// before it could be kept. No lock is held while the owner is asked or called, and none while a timer ends.
package final class Alarm: Sendable {
    /// The setting in force; its number is 0 if there is none.
    private struct Setting: Sendable {
        var due: TimerInstant?
        var number: UInt64 = 0
        var timer: (any ScheduledTimer)?
    }

    /// The number of the last call.
    private let calls = Atomic<UInt64>(0)
    private let setting = InPlaceLocked(Setting())

    package init() {}

    /// Sets the alarm for the instant that `due` reads from the owner's state, or clears it if that is nil.
    ///
    /// `ring` is called at that instant, unless the alarm is set for another one before.
    package func set(on timers: any Timers, for due: () -> TimerInstant?, _ ring: @escaping @Sendable () -> Void) {
        let number = nextNumber()
        let due = due()
        guard put(due, number), let due else { return }
        let timer = timers.schedule(at: due) { if self.take(number) { ring() } }
        let useless = setting.withLock { setting -> (any ScheduledTimer)? in
            guard setting.number == number else { return timer }
            setting.timer = timer
            return nil
        }
        useless?.cancel()
    }

    /// Clears the alarm for good, after a change of the state that will name no instant any more.
    package func end() { _ = put(nil, nextNumber()) }

    package func waits(for due: TimerInstant) -> Bool { setting.withLock { $0.due == due && $0.timer != nil } }

    private func nextNumber() -> UInt64 { calls.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }

    /// Puts an instant in force, and returns whether that is new.
    private func put(_ due: TimerInstant?, _ number: UInt64) -> Bool {
        let old = setting.withLock { setting -> Setting? in
            guard calls.load(ordering: .acquiring) == number, due != setting.due else { return nil }
            return replace(&setting, with: Setting(due: due, number: due == nil ? 0 : number))
        }
        old?.timer?.cancel()
        return old != nil
    }

    /// Takes the ring of a timer, and returns whether its setting was in force.
    private func take(_ number: UInt64) -> Bool {
        let rung = setting.withLock { $0.number == number ? replace(&$0, with: Setting()) : nil }
        return rung != nil
    }
}
