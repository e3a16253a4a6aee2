/// A hierarchical timing wheel: elements that wait, ordered by the tick at which they fall due.
///
/// The wheel is a value without a clock and without a lock. Its owner advances the time and takes the elements that have fallen
/// due, in the order of deadlines and, within one deadline, in the order of insertion. Inserting and removing cost the same
/// whether ten elements wait or a million.
///
/// ## How it works
///
/// A tick is read as a number with digits of six bits. A level stands for a digit, and its 64 slots for the values of
/// that digit. An element waits at the level of the highest digit in which its deadline differs from the present, in
/// the slot that the deadline's digit names. So all the elements of a level are due before those of the next, and a
/// slot of level 0 holds a single deadline. When the present reaches the first tick that a higher slot stands for, the
/// slot's elements move down to lower levels, which are empty at that moment; that is why they stay in order. An
/// element moves at most once per level. The eleven levels hold any 64-bit tick, so there is no horizon.
///
/// All elements lie in one array, and the elements of a slot form a ring by their positions in it.
package struct TimerWheel<Element> {
    /// The tick up to which everything due has been handed out; it never goes back.
    package private(set) var present: UInt64

    package private(set) var count = 0

    /// The ticket to remove an element by; of no use once that was removed or has fallen due, even if another has taken its position.
    package struct Ticket: Sendable {
        fileprivate let position: Int
        fileprivate let number: UInt64
    }

    /// A position in the array, and the element that waits there.
    private struct Place {
        /// Nil while the position is free.
        var element: Element?
        var ticketNumber: UInt64
        var deadline: UInt64
        var slot: Int
        /// The neighbours in the ring of the slot; for a free position, `next` is another free one.
        var next: Int
        var previous: Int
    }

    private var places: [Place] = []
    private var firstFree = noPosition
    private var lastNumber: UInt64 = 0
    /// The position of the first element of each slot.
    private var slots = [Int](repeating: noPosition, count: Digit.levels * Digit.values)
    /// For each level, a bit for each slot that has elements.
    private var occupiedSlots = [UInt64](repeating: 0, count: Digit.levels)
    /// A bit for each level that has elements.
    private var occupiedLevels: UInt16 = 0

    private static var noPosition: Int { -1 }

    package init(present tick: UInt64) { present = tick }

    /// The tick at which to look again, `nil` if nothing waits: nothing falls due before, though perhaps nothing at it.
    package var nextExpiry: UInt64? { earliestSlot.map(firstTick) }

    /// The deadline of the element that falls due first, `nil` if nothing waits.
    package var firstDeadline: UInt64? {
        guard let slot = earliestSlot else { return nil }
        let first = slots[slot]
        var (earliest, position) = (places[first].deadline, places[first].next)
        // All elements of a slot of the lowest level have the same deadline.
        while slot >= Digit.values, position != first {
            earliest = min(earliest, places[position].deadline)
            position = places[position].next
        }
        return earliest
    }

    /// Lets `element` wait for `deadline`; a deadline in the past is due at the present.
    package mutating func insert(_ element: Element, at deadline: UInt64) -> Ticket {
        lastNumber += 1
        count += 1
        let place = Place(
            element: element, ticketNumber: lastNumber, deadline: max(deadline, present), slot: 0,
            next: Self.noPosition, previous: Self.noPosition)
        let position: Int
        if firstFree == Self.noPosition {
            position = places.count
            places.append(place)
        } else {
            position = firstFree
            firstFree = places[position].next
            places[position] = place
        }
        link(position)
        return Ticket(position: position, number: lastNumber)
    }

    package mutating func remove(_ ticket: Ticket) -> Element? {
        guard ticket.position < places.count, places[ticket.position].ticketNumber == ticket.number else { return nil }
        return takeOut(ticket.position)
    }

    /// Moves the present on, to `tick` or to the next element that falls due on the way there, which it returns.
    ///
    /// Call it until nothing comes. In between, elements may be inserted and removed.
    package mutating func advance(to tick: UInt64) -> Element? {
        while let slot = earliestSlot {
            let start = firstTick(of: slot)
            guard start <= tick else { break }
            present = start
            if slot < Digit.values { return takeOut(slots[slot]) }
            moveDown(slot)
        }
        present = max(present, tick)
        return nil
    }

    /// Moves the present to `tick` if nothing is due before.
    ///
    /// This saves elements with a short wait from being inserted far up, relative to an old present.
    package mutating func catchUp(with tick: UInt64) {
        guard tick > present else { return }
        if let nextExpiry, nextExpiry <= tick { return }
        present = tick
    }

    // MARK: - Places

    private mutating func takeOut(_ position: Int) -> Element? {
        unlink(position)
        count -= 1
        let element = replace(&places[position].element, with: nil)
        places[position].ticketNumber = 0
        places[position].next = firstFree
        firstFree = position
        if count == 0, places.count > Self.mostKeptPlaces {
            // A burst does not leave its memory behind.
            places = []
            firstFree = Self.noPosition
        }
        return element
    }

    private static var mostKeptPlaces: Int { 256 }

    /// Appends a place to the slot where its deadline belongs, as seen from the present.
    private mutating func link(_ position: Int) {
        let deadline = places[position].deadline
        let level = Digit.highest(in: deadline ^ present)
        let value = Int(truncatingIfNeeded: deadline >> (level * Digit.bits)) & (Digit.values - 1)
        let slot = level * Digit.values + value
        places[position].slot = slot

        let first = slots[slot]
        guard first != Self.noPosition else {
            places[position].next = position
            places[position].previous = position
            slots[slot] = position
            occupiedSlots[level] |= 1 << value
            occupiedLevels |= 1 << level
            return
        }
        let last = places[first].previous
        places[position].next = first
        places[position].previous = last
        places[last].next = position
        places[first].previous = position
    }

    private mutating func unlink(_ position: Int) {
        let (slot, next, previous) = (places[position].slot, places[position].next, places[position].previous)
        if next == position {
            empty(slot)
        } else {
            places[previous].next = next
            places[next].previous = previous
            if slots[slot] == position { slots[slot] = next }
        }
    }

    /// Spreads the elements of a slot that the present has reached over the levels below, in order.
    private mutating func moveDown(_ slot: Int) {
        let first = slots[slot]
        empty(slot)
        var position = first
        repeat {
            let next = places[position].next
            link(position)
            position = next
        } while position != first
    }

    // MARK: - Slots

    /// The number of the slot to look at first.
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

    private mutating func empty(_ slot: Int) {
        let (level, value) = slot.quotientAndRemainder(dividingBy: Digit.values)
        slots[slot] = Self.noPosition
        occupiedSlots[level] &= ~(1 << value)
        if occupiedSlots[level] == 0 { occupiedLevels &= ~(1 << level) }
    }
}

/// The digits in which the wheel reads a tick.
private enum Digit {
    static let bits = 6
    /// The number of values of a digit: the bits of a word, so that one word shows which slots are occupied.
    static let values = 1 << bits
    /// How many digits a tick has.
    static let levels = (UInt64.bitWidth + bits - 1) / bits

    /// The highest digit of `number` that is not zero, or the lowest of all.
    static func highest(in number: UInt64) -> Int {
        (UInt64.bitWidth - 1 - (number | 1).leadingZeroBitCount) / bits
    }
}
