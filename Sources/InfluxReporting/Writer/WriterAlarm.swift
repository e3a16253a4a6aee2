import LoaderChain

/// The one timer that a writer's batching waits for.
///
/// It is set outside the lock, and may ring before it was kept. So every setting has a number, and a timer whose number is no
/// longer the one means nothing.
struct WriterAlarm {
    private var number: UInt64 = 0
    private var due: TimerInstant?
    private var timer: (any ScheduledTimer)?

    /// What to do after unlocking: cancel the one, and set the other.
    struct Setting {
        let old: (any ScheduledTimer)?
        let due: TimerInstant?
        let number: UInt64
    }

    /// Sets it anew, unless it is set for that moment already.
    mutating func set(for due: TimerInstant?) -> Setting? {
        guard due != self.due else { return nil }
        self.due = due
        number += 1
        return Setting(old: exchange(&timer, with: nil), due: due, number: number)
    }

    /// Keeps the timer of a setting; answers it back to be cancelled if the setting is no more.
    mutating func keep(_ timer: any ScheduledTimer, of number: UInt64) -> (any ScheduledTimer)? {
        guard number == self.number, due != nil else { return timer }
        self.timer = timer
        return nil
    }

    /// Hears a timer ring, and answers whether its setting is still the one; the timer is to be let go of after unlocking.
    mutating func ring(_ number: UInt64) -> (isValid: Bool, timer: (any ScheduledTimer)?) {
        guard number == self.number, due != nil else { return (false, nil) }
        due = nil
        return (true, exchange(&timer, with: nil))
    }
}
