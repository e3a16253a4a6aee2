/// An entry for each host, without those that are idle.
///
/// An idle entry is equal to a new one, so it can be removed at any time. Whenever the table has doubled, the idle entries are
/// removed: it holds at most twice the hosts that were busy at once, at a constant cost for each.
struct HostTable<Host: Hashable, Entry> {
    private var entries: [Host: Entry] = [:]
    private var roomBeforeSweep = smallestRoom

    private static var smallestRoom: Int { 64 }

    var count: Int { entries.count }

    /// The hosts with their entries, in no order.
    var all: [Host: Entry] { entries }

    /// Changes a host's entry, making one if there is none.
    mutating func withEntry<Result>(
        of host: Host, orMake make: () -> Entry, sweeping isIdle: (inout Entry) -> Bool,
        _ body: (inout Entry) -> Result
    ) -> Result {
        if entries.count >= roomBeforeSweep, entries[host] == nil { sweep(isIdle) }
        return body(&entries[host, default: make()])
    }

    /// Changes a host's entry; nil if there is none.
    mutating func withEntry<Result>(of host: Host, _ body: (inout Entry) -> Result) -> Result? {
        guard let index = entries.index(forKey: host) else { return nil }
        return body(&entries.values[index])
    }

    /// Changes every entry.
    mutating func forEach(_ body: (_ host: Host, inout Entry) -> Void) {
        for index in entries.indices { body(entries.keys[index], &entries.values[index]) }
    }

    private mutating func sweep(_ isIdle: (inout Entry) -> Bool) {
        for (host, entry) in entries {
            var entry = entry
            if isIdle(&entry) { entries[host] = nil }
        }
        roomBeforeSweep = max(Self.smallestRoom, 2 * entries.count)
    }
}
