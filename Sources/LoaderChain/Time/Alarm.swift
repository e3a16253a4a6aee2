/// The only timer of a state, where several threads set and clear it.
///
/// A timer is scheduled outside the state's lock, and may fire before it has been stored. Each setting therefore has a
/// number, with which the timer fires and is stored; both are rejected if the alarm was cleared or set again meanwhile.
///
/// Old timers are returned, so that none ends under the lock.
package struct Alarm {
    package private(set) var isSet = false
    /// The moment for which it is set; nil if it is not, or if only its owner knows.
    private var due: TimerInstant?
    private var number: UInt64 = 0
    private var timer: (any ScheduledTimer)?

    package init() {}

    /// Sets the alarm, and returns the number of the setting, to schedule a timer with.
    package mutating func set() -> UInt64 {
        number += 1
        isSet = true
        return number
    }

    /// What to do outside the lock after the alarm was set for another moment.
    package struct Change {
        /// The number to schedule a timer with, and its moment; nil if there is none to schedule.
        package let setting: (number: UInt64, due: TimerInstant)?
        /// The timer to cancel, if one was stored.
        package let old: (any ScheduledTimer)?
    }

    /// Sets the alarm for a moment, or clears it; returns nil if it is set for that moment already.
    package mutating func set(for due: TimerInstant?) -> Change? {
        guard due != self.due else { return nil }
        let old = clear()
        self.due = due
        return Change(setting: due.map { (set(), $0) }, old: old)
    }

    /// Stores the timer of a setting; returns it to be cancelled if that setting is out of date.
    package mutating func keep(_ timer: any ScheduledTimer, of number: UInt64) -> (any ScheduledTimer)? {
        guard isSet, self.number == number else { return timer }
        self.timer = timer
        return nil
    }

    /// Clears the alarm, and returns the timer to cancel, if one was stored.
    package mutating func clear() -> (any ScheduledTimer)? {
        isSet = false
        due = nil
        return replace(&timer, with: nil)
    }

    /// Takes the ring of a timer; nil if its setting is out of date.
    package mutating func ring(_ number: UInt64) -> Rung? {
        guard isSet, self.number == number else { return nil }
        return Rung(timer: clear())
    }

    /// An alarm that rang, with its timer if that was stored by then.
    package struct Rung {
        package let timer: (any ScheduledTimer)?

        package init(timer: (any ScheduledTimer)?) { self.timer = timer }
    }
}
