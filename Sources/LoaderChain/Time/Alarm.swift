/// The one timer that a state has at most, where many threads set and clear it.
///
/// A timer is scheduled outside the state's lock, and may ring before it has been kept. So every setting has a number: the
/// timer rings with it and is kept by it, and both are turned down if the alarm was cleared or set anew meanwhile.
///
/// Timers that are done with travel out, so that none ends under the lock.
struct Alarm {
    private(set) var isSet = false
    private var number: UInt64 = 0
    private var timer: (any ScheduledTimer)?

    /// Sets the alarm, and returns the number of the setting, to schedule a timer with.
    mutating func set() -> UInt64 {
        number += 1
        isSet = true
        return number
    }

    /// Keeps the timer of a setting; returns it to be cancelled if that setting is no more.
    mutating func keep(_ timer: any ScheduledTimer, of number: UInt64) -> (any ScheduledTimer)? {
        guard isSet, self.number == number else { return timer }
        self.timer = timer
        return nil
    }

    /// Clears the alarm, and returns the timer to cancel, if one was kept.
    mutating func clear() -> (any ScheduledTimer)? {
        isSet = false
        return exchange(&timer, with: nil)
    }

    /// Hears a timer ring; nil if its setting is no more.
    mutating func ring(_ number: UInt64) -> Rung? {
        guard isSet, self.number == number else { return nil }
        return Rung(timer: clear())
    }

    /// An alarm that rang, with its timer if that was kept by then.
    struct Rung {
        let timer: (any ScheduledTimer)?
    }
}
