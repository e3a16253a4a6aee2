import LoaderChain

/// One timer for the deadlines of all that is in flight.
///
/// Deadlines move with every byte, and hardly any ever comes. So none is set and cleared for each request: the timer waits
/// for the earliest that was ever noted, and whoever is still there when it rings says how long to wait further. When
/// nothing is in flight any more it rings once in vain.
final class DeadlineWatch: Sendable {
    private let timers: any Timers
    private let alarm = Guarded(Alarm())
    private let onRing: @Sendable (TimerInstant) -> TimerInstant?

    private struct Alarm {
        var deadline: TimerInstant?
        var timer: (any ScheduledTimer)?
    }

    /// - Parameter onRing: called when a deadline may have come; answers the earliest that is still to come.
    init(_ timers: any Timers, onRing: @escaping @Sendable (TimerInstant) -> TimerInstant?) {
        self.timers = timers
        self.onRing = onRing
    }

    deinit { alarm.withLock { $0.timer }?.cancel() }

    /// Sees to it that the deadline is not missed.
    func note(_ deadline: TimerInstant) {
        let isEarliest = alarm.withLock { alarm in
            if let earliest = alarm.deadline, earliest <= deadline { return false }
            alarm.deadline = deadline
            return true
        }
        guard isEarliest else { return }
        let timer = timers.schedule(at: deadline) { [weak self] in self?.ring(deadline) }
        let unused = alarm.withLock { alarm in
            // Another thread may have noted an earlier one meanwhile, or the timer may have rung.
            alarm.deadline == deadline ? exchange(&alarm.timer, with: timer) : timer
        }
        unused?.cancel()
    }

    private func ring(_ deadline: TimerInstant) {
        let isCurrent = alarm.withLock { alarm in
            guard alarm.deadline == deadline else { return false }
            alarm.deadline = nil
            return true
        }
        guard isCurrent, let next = onRing(timers.now) else { return }
        note(next)
    }
}
