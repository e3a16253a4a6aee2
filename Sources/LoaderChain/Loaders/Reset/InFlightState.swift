/// The tasks in flight at a loader and the resets that wait for them, decided without threads.
///
/// While a reset waits, no task is admitted, so that the reset ends.
package struct InFlightState<Entry, Reset> {
    private var entries: [UInt64: Entry] = [:]
    private var resets: [Reset] = []

    package init() {}

    package var count: Int { entries.count }

    /// Everything in flight, in no order.
    package var all: [Entry] { Array(entries.values) }

    /// Adds an entry, and returns whether it was admitted.
    package mutating func admit(_ entry: consuming Entry, number: UInt64) -> Bool {
        guard resets.isEmpty else { return false }
        entries[number] = entry
        return true
    }

    /// Removes an entry that has ended, and returns the resets that have nothing more to wait for.
    package mutating func end(_ number: UInt64) -> [Reset] {
        guard entries.removeValue(forKey: number) != nil, entries.isEmpty else { return [] }
        // The memory of a burst is released.
        let mostKeptEntries = 256
        if entries.capacity > mostKeptEntries { entries = [:] }
        return replace(&resets, with: [])
    }

    /// Gives up the resets that wait and fulfil a condition, and returns them; without a reset, entries are admitted again.
    package mutating func giveUp(where isGivenUp: (Reset) -> Bool) -> [Reset] {
        resets.take(where: isGivenUp)
    }

    /// Lets `reset` wait for all entries, and returns the ones to cancel; nil if there is nothing to wait for.
    package mutating func begin(_ reset: Reset) -> [Entry]? {
        guard !entries.isEmpty else { return nil }
        resets.append(reset)
        // Another reset, which is not over, has cancelled these already.
        return resets.count == 1 ? Array(entries.values) : []
    }
}
