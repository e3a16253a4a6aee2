/// What is in flight at a loader, and which resets wait for its end; decided without threads.
///
/// While a reset waits nothing is admitted, so that what is in flight only becomes less and the reset has an end.
package struct InFlightState<Entry, Reset> {
    private var entries: [UInt64: Entry] = [:]
    private var resets: [Reset] = []

    package init() {}

    package var count: Int { entries.count }

    /// Everything in flight, in no order.
    package var all: [Entry] { Array(entries.values) }

    /// Notes one more in flight, and answers whether it was admitted.
    package mutating func admit(_ entry: consuming Entry, number: UInt64) -> Bool {
        guard resets.isEmpty else { return false }
        entries[number] = entry
        return true
    }

    /// Notes that one has ended, and returns the resets that have nothing more to wait for.
    package mutating func end(_ number: UInt64) -> [Reset] {
        guard entries.removeValue(forKey: number) != nil, entries.isEmpty else { return [] }
        // A burst does not leave its memory behind.
        let mostKeptEntries = 256
        if entries.capacity > mostKeptEntries { entries = [:] }
        return exchange(&resets, with: [])
    }

    /// Lets `reset` wait for what is in flight, and returns that; nil if there is nothing to wait for.
    package mutating func begin(_ reset: Reset) -> [Entry]? {
        guard !entries.isEmpty else { return nil }
        resets.append(reset)
        // Another reset has ended these already; it is not over, because they are not.
        return resets.count == 1 ? Array(entries.values) : []
    }
}
