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
    fileprivate unowned(unsafe) var next: Entry?
    fileprivate unowned(unsafe) var previous: Entry?
    fileprivate(set) var isTaken = false
}

/// Objects in the order of their arrival, each of which can leave from wherever it stands, at the same small cost.
///
/// An entry stands in one line at most. Whoever owns the line locks it.
final class Line<Entry: LineEntry> {
    private(set) var count = 0
    private unowned(unsafe) var first: Entry?
    private unowned(unsafe) var last: Entry?

    deinit { _ = removeAll() }

    var isEmpty: Bool { count == 0 }

    /// Puts `entry` at the end.
    func append(_ entry: Entry) {
        entry.place = LinePlace(next: nil, previous: last, isTaken: true)
        if let last { last.place.next = entry } else { first = entry }
        last = entry
        count += 1
        _ = Unmanaged.passRetained(entry)
    }

    /// Takes `entry` out, and answers whether it was here.
    func remove(_ entry: Entry) -> Bool {
        guard entry.place.isTaken else { return false }
        let (next, previous) = (entry.place.next, entry.place.previous)
        if let previous { previous.place.next = next } else { first = next }
        if let next { next.place.previous = previous } else { last = previous }
        entry.place = LinePlace()
        count -= 1
        Unmanaged.passUnretained(entry).release()
        return true
    }

    /// Takes out the one that came first.
    func popFirst() -> Entry? {
        guard let entry = first else { return nil }
        _ = remove(entry)
        return entry
    }

    /// Everything in line, in order.
    var entries: [Entry] {
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        var entry = first
        while let present = entry {
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
