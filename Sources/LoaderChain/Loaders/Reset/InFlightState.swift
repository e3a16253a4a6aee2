/// What is in flight at a loader, and which resets wait for its end; decided without threads.
///
/// While a reset waits nothing is admitted, so that what is in flight only becomes less and the reset has an end.
package struct InFlightState<Entry, Reset> {
    private var entries = NumberTable<Entry>()
    private var resets: [Reset] = []

    package init() {}

    package var count: Int { entries.count }

    /// Everything in flight, in no order.
    package var all: [Entry] { Array(entries.all) }

    /// Notes one more in flight, and answers whether it was admitted.
    package mutating func admit(_ entry: consuming Entry, number: UInt64) -> Bool {
        guard resets.isEmpty else { return false }
        entries.insert(entry, at: number)
        return true
    }

    /// Notes that one has ended, and returns the resets that have nothing more to wait for.
    package mutating func end(_ number: UInt64) -> [Reset] {
        guard entries.remove(number) != nil, entries.isEmpty else { return [] }
        return exchange(&resets, with: [])
    }

    /// Lets `reset` wait for what is in flight, and returns that; nil if there is nothing to wait for.
    package mutating func begin(_ reset: Reset) -> [Entry]? {
        guard !entries.isEmpty else { return nil }
        resets.append(reset)
        // Another reset has ended these already; it is not over, because they are not.
        return resets.count == 1 ? Array(entries.all) : []
    }
}
