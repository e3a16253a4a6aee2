/// The only timer of a state, where several threads set and clear it.
///
/// A timer is scheduled outside the state's lock, and may fire before it has been stored. Each setting therefore has a
/// number, with which the timer fires and is stored; both are rejected if the alarm was cleared or set again meanwhile.
///
/// Old timers are returned, so that none ends under the lock.
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

    /// Stores the timer of a setting; returns it to be cancelled if that setting is out of date.
    mutating func keep(_ timer: any ScheduledTimer, of number: UInt64) -> (any ScheduledTimer)? {
        guard isSet, self.number == number else { return timer }
        self.timer = timer
        return nil
    }

    /// Clears the alarm, and returns the timer to cancel, if one was stored.
    mutating func clear() -> (any ScheduledTimer)? {
        isSet = false
        return exchange(&timer, with: nil)
    }

    /// Takes the ring of a timer; nil if its setting is out of date.
    mutating func ring(_ number: UInt64) -> Rung? {
        guard isSet, self.number == number else { return nil }
        return Rung(timer: clear())
    }

    /// An alarm that rang, with its timer if that was stored by then.
    struct Rung {
        let timer: (any ScheduledTimer)?
    }
}
