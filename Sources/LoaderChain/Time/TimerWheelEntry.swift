/// Something that can wait in a ``TimerWheel``, and carries the place for it: waiting costs no further allocation.
package protocol TimerWheelEntry: AnyObject {
    /// The entry's place in a wheel. It is the wheel's; a conforming class stores it and leaves it alone.
    var link: TimerWheelLink<Self> { get set }
}

/// An entry's place in a ``TimerWheel``: its slot, and its neighbours in the ring of those that wait there.
///
/// The neighbours are bare pointers. Everything in a slot is owned by the wheel itself, and leaves its ring before the
/// wheel lets go of it, so a neighbour is always alive; and since no entry owns the next, the release of one never
/// starts a chain that is as deep as the ring is long.
package struct TimerWheelLink<Entry: AnyObject> {
    unowned(unsafe) var next: Entry?
    unowned(unsafe) var previous: Entry?

    /// The position of the slot, `nil` while the entry is in no wheel.
    var slot: Int16?

    /// The tick at which the entry falls due.
    package internal(set) var deadline: UInt64 = 0

    /// Whether the entry waits in a wheel.
    package var isLinked: Bool { slot != nil }

    /// The place of an entry that waits nowhere.
    package init() {}
}
