import Dispatch

/// Watches the deadlines of all exchanges in flight with one timer.
///
/// A deadline moves with every byte, and few ever pass, so a timer for each request would be set and cancelled
/// all the time. Instead one timer fires at the earliest deadline ever noted, and `onRing` then returns the earliest that
/// is still to come. When nothing is in flight any more, it fires once without effect.
package final class DeadlineWatch: Sendable {
    private let timers: any Timers
    private let earliest = Locked<TimerInstant?>(nil)
    private let alarm = Alarm()
    private let onRing: @Sendable (TimerInstant) -> TimerInstant?

    /// - Parameter onRing: called when a deadline may have passed; returns the earliest that is still to come.
    package init(_ timers: any Timers, onRing: @escaping @Sendable (TimerInstant) -> TimerInstant?) {
        self.timers = timers
        self.onRing = onRing
    }

    deinit { alarm.end() }

    /// Makes sure that the timer fires at the deadline or before.
    package func note(_ deadline: TimerInstant) {
        let isEarliest = earliest.withLock { earliest in
            if let earliest, earliest <= deadline { return false }
            earliest = deadline
            return true
        }
        if isEarliest { setAlarm() }
    }

    private func setAlarm() {
        alarm.set(on: timers, for: { earliest.withLock(\.self) }) { [weak self] in self?.ring() }
    }

    private func ring() {
        let now = timers.now
        let isDue = earliest.withLock { earliest in
            guard let deadline = earliest, deadline <= now else { return false }
            earliest = nil
            return true
        }
        // A timer may be early by the clock of its owner.
        guard isDue else { return setAlarm() }
        if let next = onRing(now) { note(next) }
    }
}

/// Calls a user's progress closure on a queue of its own.
///
/// At most one call is pending, and it reports the newest progress. Progress that is equal to the last is not reported again.
package final class ProgressReporter: Sendable {
    private let onProgress: @Sendable (TransferProgress) -> Void
    private let queue: DispatchQueue
    private let latest = Locked(Latest())

    private struct Latest {
        var progress: TransferProgress?
        /// Whether no call is pending that will report it.
        var isReported = true
        var hasEnded = false
    }

    package init(_ onProgress: @escaping @Sendable (TransferProgress) -> Void, on queue: DispatchQueue) {
        self.onProgress = onProgress
        self.queue = queue
    }

    package func report(_ progress: TransferProgress) {
        let isNeeded = latest.withLock { latest in
            guard !latest.hasEnded, latest.progress != progress else { return false }
            latest.progress = progress
            return replace(&latest.isReported, with: false)
        }
        guard isNeeded else { return }
        queue.async { [self] in
            let newest = latest.withLock { latest in
                latest.isReported = true
                return latest.progress
            }
            if let newest { onProgress(newest) }
        }
    }

    /// Reports nothing more.
    package func end() { latest.withLock { $0 = Latest(hasEnded: true) } }
}
