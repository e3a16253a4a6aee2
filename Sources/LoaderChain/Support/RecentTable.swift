/// The values of the keys that were used last, in a bounded number.
///
/// There are two generations. A key that is used is young; when half of the table is young, the old keys are forgotten
/// and the young ones grow old. So the most recently used half is always there, and no step costs more than a lookup.
package struct RecentTable<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let half: Int

    /// Makes an empty table for so many keys, at least two.
    package init(capacity: Int) { half = max(1, capacity / 2) }

    /// How many keys there are.
    var count: Int { young.count + old.count }

    /// The value of a key, which `make` makes if there is none.
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

    /// Gives a key a value.
    package mutating func insert(_ value: Value, for key: Key) {
        if young.count == half { old = replace(&young, with: [:]) }
        young[key] = value
    }

    /// Forgets everything.
    mutating func removeAll() { self = RecentTable(capacity: 2 * half) }
}
