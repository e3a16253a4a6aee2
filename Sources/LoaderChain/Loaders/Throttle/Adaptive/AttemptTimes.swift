/// When each timed attempt under way began, by its task's number.
///
/// It is a table with open addressing, which allocates only when more attempts are under way than ever before. A dictionary
/// would cost as much as everything else that is done for an attempt.
struct AttemptTimes {
    /// What is noted about the beginning of an attempt.
    struct Beginning {
        let instant: TimerInstant
        /// The period of the limit; see ``AdaptiveLimitState``.
        let period: UInt32
    }

    /// An attempt; it has the key 0 where there is none.
    private struct Entry {
        var key: UInt64 = 0
        var beginning = Beginning(instant: TimerInstant(nanoseconds: 0), period: 0)
    }

    private var entries = [Entry](repeating: Entry(), count: 16)
    private(set) var count = 0

    private var mask: Int { entries.count - 1 }

    /// Notes the beginning of an attempt.
    mutating func insert(_ number: UInt64, _ beginning: Beginning) {
        if 2 * (count + 1) > entries.count { grow() }
        let key = Self.key(of: number)
        let place = place(of: key)
        if entries[place].key == 0 { count += 1 }
        entries[place] = Entry(key: key, beginning: beginning)
    }

    /// Takes out the beginning of an attempt; nil if none was noted.
    mutating func remove(_ number: UInt64) -> Beginning? {
        var hole = place(of: Self.key(of: number))
        guard entries[hole].key != 0 else { return nil }
        let beginning = entries[hole].beginning
        count -= 1
        // Those that follow move up, so that a search never meets a hole between a key and its home.
        var next = (hole + 1) & mask
        while entries[next].key != 0 {
            let home = home(of: entries[next].key)
            if (next - home) & mask >= (next - hole) & mask {
                entries[hole] = entries[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        entries[hole].key = 0
        return beginning
    }

    /// Numbers count from 0, which marks an empty entry.
    private static func key(of number: UInt64) -> UInt64 { number &+ 1 }

    private func home(of key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* SplitMix64.step) >> 32) & mask
    }

    /// Where a key is, or would be.
    private func place(of key: UInt64) -> Int {
        var place = home(of: key)
        while entries[place].key != 0, entries[place].key != key { place = (place + 1) & mask }
        return place
    }

    private mutating func grow() {
        let old = entries
        entries = [Entry](repeating: Entry(), count: 2 * old.count)
        for entry in old where entry.key != 0 { entries[place(of: entry.key)] = entry }
    }
}
