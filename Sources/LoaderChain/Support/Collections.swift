/// An entry for each host, without those that are idle.
///
/// An idle entry is equal to a new one, so it can be removed at any time. Whenever the table has doubled, the idle entries are
/// removed: it holds at most twice the hosts that were busy at once, at a constant cost for each.
struct HostTable<Host: Hashable, Entry> {
    private var entries: [Host: Entry] = [:]
    private var roomBeforeSweep = smallestRoom

    private static var smallestRoom: Int { 64 }

    var count: Int { entries.count }

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

/// The values of the keys that were used last, in a bounded number.
///
/// There are two generations. A key that is used is young; when half of the table is young, the old keys are forgotten
/// and the young ones grow old. So the most recently used half is always there, and no step costs more than a lookup.
package struct RecentTable<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let half: Int

    /// Makes an empty table for `capacity` keys, at least two.
    package init(capacity: Int) { half = max(1, capacity / 2) }

    var count: Int { young.count + old.count }

    mutating func value(of key: Key, orMake make: () -> Value) -> Value {
        if let value = self[key] { return value }
        let value = make()
        insert(value, for: key)
        return value
    }

    /// The value of a key, which is young from now on; nil if there is none.
    package subscript(key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old.removeValue(forKey: key) else { return nil }
            insert(value, for: key)
            return value
        }
    }

    package mutating func insert(_ value: Value, for key: Key) {
        if young.count == half { old = replace(&young, with: [:]) }
        young[key] = value
    }

    mutating func removeAll() { self = RecentTable(capacity: 2 * half) }
}

/// Small numbers in the order of their keys, the least on top, any of which can be moved or taken out.
///
/// Each number's position is kept in an array, so count the numbers from zero without large gaps.
struct IndexedHeap {
    private var items: [(number: Int, key: UInt64)] = []
    /// The place of each number among the items; nil for a number that is not here.
    private var positions: [Int?] = []

    var isEmpty: Bool { items.isEmpty }
    var count: Int { items.count }
    var first: Int? { items.first?.number }

    /// Moves a number to where its key belongs, or takes it out if it has none.
    mutating func update(_ number: Int, to key: UInt64?) {
        let position = number < positions.count ? positions[number] : nil
        switch (position, key) {
        case (nil, nil):
            break  // It is not here, and need not be.
        case (nil, let key?):
            if number >= positions.count {
                positions.append(contentsOf: repeatElement(nil, count: number + 1 - positions.count))
            }
            items.append((number, key))
            rise(from: items.count - 1)
        case (let position?, let key?):
            items[position].key = key
            settle(from: position)
        case (let position?, nil):
            positions[number] = nil
            let last = items.removeLast()
            guard last.number != number else { break }
            place(last, at: position)
            settle(from: position)
        }
    }

    private mutating func place(_ item: (number: Int, key: UInt64), at position: Int) {
        items[position] = item
        positions[item.number] = position
    }

    private mutating func settle(from position: Int) {
        // One of the two does nothing.
        sink(from: rise(from: position))
    }

    @discardableResult
    private mutating func rise(from start: Int) -> Int {
        let item = items[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard item.key < items[parent].key else { break }
            place(items[parent], at: position)
            position = parent
        }
        place(item, at: position)
        return position
    }

    private mutating func sink(from start: Int) {
        let item = items[start]
        var position = start
        while true {
            var child = 2 * position + 1
            guard child < items.count else { break }
            if child + 1 < items.count, items[child + 1].key < items[child].key { child += 1 }
            guard items[child].key < item.key else { break }
            place(items[child], at: position)
            position = child
        }
        place(item, at: position)
    }
}

/// A list of hosts: names in any case, and names that begin with `*.` for every name below.
struct HostPatterns: Hashable, Sendable {
    /// The names in lower case; nil for all hosts.
    private let names: [String]?

    init(_ names: some Sequence<String>) { self.names = names.map { $0.lowercased() } }

    private init() { names = nil }

    /// All hosts, also one that is not known yet.
    static let all = HostPatterns()

    func contain(_ host: String?) -> Bool {
        guard let names else { return true }
        guard let host = host?.lowercased() else { return false }
        return names.contains { name in
            guard name.hasPrefix("*.") else { return name == host }
            let suffix = name.dropFirst()
            return host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count
        }
    }
}

extension Array {
    /// Removes the elements that fulfil a condition, and returns them in their order.
    mutating func take(where isTaken: (Element) -> Bool) -> [Element] {
        let taken = filter(isTaken)
        if !taken.isEmpty { removeAll(where: isTaken) }
        return taken
    }
}
