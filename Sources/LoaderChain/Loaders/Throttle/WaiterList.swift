/// Waiters in the order of their arrival, linked through themselves.
///
/// To add one, to take the first, and to take any other out cost the same however many there are, and allocate nothing.
///
/// A waiter comes with a reference that the list takes over, and leaves with it; the links count none. That spares each
/// waiter what two reference counts cost, and lets a list of any length be released without nested calls. But a list must
/// be emptied before it is let go of.
struct WaiterList {
    /// A waiter, together with a reference that whoever has the link is to release.
    typealias Link = Unmanaged<ThrottleWaiter>

    private var first: Link?
    private var last: Link?

    var isEmpty: Bool {
        @inline(__always) get { first == nil }
    }

    /// The ticket of the first waiter.
    var firstTicket: UInt64? { first?._withUnsafeGuaranteedRef { $0.ticket } }

    /// Adds a waiter behind all others.
    @inline(__always)
    mutating func append(_ link: Link) {
        link._withUnsafeGuaranteedRef { $0.previous = last }
        join(last, link)
        last = link
    }

    /// Takes the first waiter.
    @inline(__always)
    mutating func popFirst() -> Link? {
        guard let link = first else { return nil }
        let next = link._withUnsafeGuaranteedRef { exchange(&$0.next, with: nil) }
        first = next
        join(next, backTo: nil)
        return link
    }

    /// Takes out a waiter that is in the list, and that the caller holds too.
    mutating func remove(_ waiter: ThrottleWaiter) {
        let previous = exchange(&waiter.previous, with: nil)
        let next = exchange(&waiter.next, with: nil)
        join(previous, next)
        join(next, backTo: previous)
        Unmanaged.passUnretained(waiter).release()
    }

    /// Moves the waiters of another list behind those of this one.
    mutating func append(contentsOf other: consuming WaiterList) {
        guard let start = other.first else { return }
        join(last, start)
        start._withUnsafeGuaranteedRef { $0.previous = last }
        last = other.last
    }

    /// Makes `next` the one after `waiter`, or the first where there is none.
    @inline(__always)
    private mutating func join(_ waiter: Link?, _ next: Link?) {
        if let waiter { waiter._withUnsafeGuaranteedRef { $0.next = next } } else { first = next }
    }

    /// Makes `previous` the one before `waiter`, or the last where there is none.
    @inline(__always)
    private mutating func join(_ waiter: Link?, backTo previous: Link?) {
        if let waiter { waiter._withUnsafeGuaranteedRef { $0.previous = previous } } else { last = previous }
    }
}
