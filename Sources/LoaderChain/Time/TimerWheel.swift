/// The entries that wait, ordered by the tick at which they fall due: a hierarchical timing wheel.
///
/// The wheel has no clock and no lock. Its owner tells it how far time has come and takes what has fallen due, in the
/// order of deadlines and, within one deadline, in the order of insertion. Inserting and removing cost the same whether
/// ten entries wait or a million.
///
/// ## How it works
///
/// A tick is read as a number with digits of six bits. A level stands for a digit, and its 64 slots for the values of
/// that digit. An entry waits at the level of the highest digit in which its deadline differs from the present, in the
/// slot that the deadline's digit names. So all the entries of a level are due before those of the next, and a slot of
/// level 0 holds a single deadline. When the present reaches the first tick that a higher slot stands for, the slot's
/// entries move down to lower levels, which are empty at that moment; that is why they stay in order. An entry moves
/// at most once per level. The eleven levels hold any 64-bit tick, so there is no horizon.
package final class TimerWheel<Entry: TimerWheelEntry> {
    /// The tick up to which everything due has been handed out.
    ///
    /// It never goes back.
    package private(set) var present: UInt64

    /// How many entries wait.
    package private(set) var count = 0

    private struct Slot {
        unowned(unsafe) var first: Entry?
    }

    private var slots = [Slot](repeating: Slot(), count: Digit.levels * Digit.values)
    /// For each level, a bit for each slot that has entries.
    private var occupiedSlots = [UInt64](repeating: 0, count: Digit.levels)
    /// A bit for each level that has entries.
    private var occupiedLevels: UInt16 = 0

    /// An empty wheel whose present is `tick`.
    package init(present tick: UInt64) {
        present = tick
    }

    deinit {
        while advance(to: .max) != nil {}
    }

    /// The tick at which to look again, `nil` if nothing waits: nothing falls due before, though perhaps nothing at it.
    package var nextExpiry: UInt64? {
        earliestSlot.map(firstTick)
    }

    /// Lets `entry`, which must not be in a wheel, wait for `deadline`; a deadline in the past is due at the present.
    package func insert(_ entry: Entry, at deadline: UInt64) {
        precondition(!entry.link.isLinked, "The entry waits in a wheel already")
        _ = Unmanaged.passRetained(entry)
        count += 1
        entry.link.deadline = max(deadline, present)
        place(entry)
    }

    /// Takes out `entry`, which waits in this wheel or in none.
    ///
    /// - Returns: Whether it waited.
    package func remove(_ entry: Entry) -> Bool {
        guard let slot = entry.link.slot else { return false }
        unlink(entry, from: Int(slot))
        Unmanaged.passUnretained(entry).release()
        return true
    }

    /// Moves the present on, to `tick` or to the next entry that falls due on the way there.
    ///
    /// Call it until nothing comes. In between, entries may be inserted and removed.
    ///
    /// - Returns: The entry that has fallen due, or `nil` once the present has reached `tick`.
    package func advance(to tick: UInt64) -> Entry? {
        while let slot = earliestSlot {
            let start = firstTick(of: slot)
            guard start <= tick else { break }
            present = start
            guard slot < Digit.values else {
                moveDown(slot)
                continue
            }
            // A slot that is marked as occupied has a first entry.
            guard let entry = slots[slot].first else { break }
            unlink(entry, from: slot)
            return Unmanaged.passUnretained(entry).takeRetainedValue()
        }
        present = max(present, tick)
        return nil
    }

    /// Moves the present to `tick` if nothing is to be done before.
    ///
    /// It saves entries with a short wait from being inserted far up, as seen from a present that time has left behind.
    package func catchUp(with tick: UInt64) {
        guard tick > present else { return }
        if let nextExpiry, nextExpiry <= tick { return }
        present = tick
    }

    // MARK: - Slots

    /// The position of the slot that is to be looked at first.
    private var earliestSlot: Int? {
        guard occupiedLevels != 0 else { return nil }
        let level = occupiedLevels.trailingZeroBitCount
        return level * Digit.values + occupiedSlots[level].trailingZeroBitCount
    }

    /// The first tick that a slot stands for, given that what it holds is not in the past.
    private func firstTick(of slot: Int) -> UInt64 {
        let (level, value) = slot.quotientAndRemainder(dividingBy: Digit.values)
        let shift = level * Digit.bits
        // The present's digits above this level, then the slot's digit, then zeros. At the top level, nothing is above:
        // a shift by more than the width leaves zero.
        let above = (present >> (shift + Digit.bits)) << (shift + Digit.bits)
        return above | UInt64(value) << shift
    }

    /// Appends an entry to the slot where its deadline belongs, as seen from the present.
    private func place(_ entry: Entry) {
        let deadline = entry.link.deadline
        let level = Digit.highest(in: deadline ^ present)
        let value = Int(truncatingIfNeeded: deadline >> (level * Digit.bits)) & (Digit.values - 1)
        let slot = level * Digit.values + value
        entry.link.slot = Int16(slot)

        guard let first = slots[slot].first, let last = first.link.previous else {
            entry.link.next = entry
            entry.link.previous = entry
            slots[slot].first = entry
            occupiedSlots[level] |= 1 << value
            occupiedLevels |= 1 << level
            return
        }
        entry.link.next = first
        entry.link.previous = last
        last.link.next = entry
        first.link.previous = entry
    }

    /// Takes an entry out of its ring, and leaves it to the caller to let go of it.
    private func unlink(_ entry: Entry, from slot: Int) {
        let (next, previous) = (entry.link.next, entry.link.previous)
        entry.link.next = nil
        entry.link.previous = nil
        entry.link.slot = nil
        count -= 1

        if next === entry {
            empty(slot)
        } else {
            previous?.link.next = next
            next?.link.previous = previous
            if slots[slot].first === entry { slots[slot].first = next }
        }
    }

    /// Spreads the entries of a slot that the present has reached over the levels below, in order.
    private func moveDown(_ slot: Int) {
        let first = slots[slot].first
        empty(slot)
        var entry = first
        while let current = entry {
            let next = current.link.next
            place(current)
            entry = next === first ? nil : next
        }
    }

    private func empty(_ slot: Int) {
        let (level, value) = slot.quotientAndRemainder(dividingBy: Digit.values)
        slots[slot].first = nil
        occupiedSlots[level] &= ~(1 << value)
        if occupiedSlots[level] == 0 { occupiedLevels &= ~(1 << level) }
    }
}

/// The digits in which the wheel reads a tick.
private enum Digit {
    static let bits = 6
    /// How many values a digit has: as many as a word has bits, so that one word tells which slots are occupied.
    static let values = 1 << bits
    /// How many digits a tick has.
    static let levels = (UInt64.bitWidth + bits - 1) / bits

    /// The highest digit of `number` that is not zero, or the lowest of all.
    static func highest(in number: UInt64) -> Int {
        (UInt64.bitWidth - 1 - (number | 1).leadingZeroBitCount) / bits
    }
}
