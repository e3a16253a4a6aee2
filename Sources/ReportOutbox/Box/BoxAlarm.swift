import LoaderChain

/// The one timer of a box, set for the next moment at which something is due.
///
/// It is set outside the lock, and may ring before it was kept. So every setting has a number, and a timer whose number is no
/// longer the one means nothing.
struct BoxAlarm {
    private var number: UInt64 = 0
    private var due: Int64?
    private var timer: (any ScheduledTimer)?

    /// Sets it anew, unless it is set for that moment already; answers the number, and the timer to cancel.
    mutating func set(for due: Int64?) -> (number: UInt64, old: (any ScheduledTimer)?)? {
        guard due != self.due else { return nil }
        self.due = due
        number += 1
        return (number, exchange(&timer, with: nil))
    }

    /// Keeps the timer of a setting; answers it back to be cancelled if the setting is no more.
    mutating func keep(_ timer: any ScheduledTimer, of number: UInt64) -> (any ScheduledTimer)? {
        guard number == self.number, due != nil else { return timer }
        self.timer = timer
        return nil
    }

    /// Hears a timer ring; false if its setting is no more.
    mutating func ring(_ number: UInt64) -> (any ScheduledTimer)?? {
        guard number == self.number, due != nil else { return .none }
        due = nil
        return .some(exchange(&timer, with: nil))
    }

    mutating func clear() -> (any ScheduledTimer)? {
        number += 1
        due = nil
        return exchange(&timer, with: nil)
    }
}
