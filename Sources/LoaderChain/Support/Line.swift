/// Something that can stand in a ``Line``, and carries its place there: standing costs no further allocation.
protocol LineEntry: AnyObject {
    /// The entry's place. It is the line's; a conforming class stores it and leaves it alone.
    var place: LinePlace<Self> { get set }
}

/// An entry's place in a ``Line``: its neighbours.
///
/// They are bare pointers. Everything in a line is owned by the line, and leaves it before the line lets go of it; and
/// since no entry owns the next, a release never starts a chain as deep as the line is long.
struct LinePlace<Entry: AnyObject> {
    fileprivate var next: Unmanaged<Entry>?
    fileprivate var previous: Unmanaged<Entry>?
    fileprivate(set) var isTaken = false
}

/// Objects in the order of their arrival, each of which can leave from wherever it stands, at the same small cost.
///
/// An entry stands in one line at most. Whoever owns the line locks it.
final class Line<Entry: LineEntry> {
    private(set) var count = 0
    private var first: Unmanaged<Entry>?
    private var last: Unmanaged<Entry>?

    deinit { _ = removeAll() }

    var isEmpty: Bool { count == 0 }

    /// Puts `entry` at the end.
    func append(_ entry: Entry) {
        let link = Unmanaged.passRetained(entry)
        entry.place = LinePlace(next: nil, previous: last, isTaken: true)
        join(last, link)
        last = link
        count += 1
    }

    /// Takes `entry` out, and answers whether it was here.
    func remove(_ entry: Entry) -> Bool {
        let place = entry.place
        guard place.isTaken else { return false }
        entry.place = LinePlace()
        join(place.previous, place.next)
        if let next = place.next {
            next._withUnsafeGuaranteedRef { $0.place.previous = place.previous }
        } else {
            last = place.previous
        }
        count -= 1
        Unmanaged.passUnretained(entry).release()
        return true
    }

    /// Makes `next` the one after `entry`, or the first where there is none.
    @inline(__always)
    private func join(_ entry: Unmanaged<Entry>?, _ next: Unmanaged<Entry>?) {
        if let entry { entry._withUnsafeGuaranteedRef { $0.place.next = next } } else { first = next }
    }

    /// Takes out the one that came first.
    func popFirst() -> Entry? {
        guard let entry = first?.takeUnretainedValue() else { return nil }
        _ = remove(entry)
        return entry
    }

    /// Everything in line, in order.
    var entries: [Entry] {
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        var entry = first
        while let present = entry?.takeUnretainedValue() {
            entries.append(present)
            entry = present.place.next
        }
        return entries
    }

    /// Takes everything out, in order.
    func removeAll() -> [Entry] {
        let all = entries
        for entry in all { _ = remove(entry) }
        return all
    }
}
