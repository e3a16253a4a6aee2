/// Elements in the order of their arrival, any of which can be taken out at the same small cost.
///
/// To append, to take the first and to take out any other takes a few steps however many there are, and allocates nothing
/// once the storage has grown. A queue that a burst has left empty gives its memory back.
package struct LinkedQueue<Element> {
    private var nodes = LinkedNodes<Element, Void>()
    private var ends = QueueEnds()

    package init() {}

    package var count: Int { nodes.count }
    package var isEmpty: Bool { nodes.count == 0 }
    var capacity: Int { nodes.capacity }

    var elements: [Element] { nodes.inOrder }

    /// Adds an element behind all others, and returns the place to remove it by.
    package mutating func append(_ element: Element) -> QueuePlace {
        nodes.append(element, (), to: &ends)
    }

    package mutating func popFirst() -> Element? {
        nodes.popFirst(of: &ends)?.element
    }

    /// Takes out the element that came to a place; nil if it has left.
    package mutating func remove(_ place: QueuePlace) -> Element? {
        nodes.remove(place, from: &ends)
    }
}

/// The place of an element of a queue, from its arrival until it leaves.
///
/// A place carries the number of the arrival, so a place that is kept for longer finds nothing, whatever has moved in since.
package struct QueuePlace: Hashable, Sendable {
    fileprivate let index: Int32
    /// The number of the arrival in its storage: the later, the higher.
    let arrival: UInt64

    static var nowhere: QueuePlace { QueuePlace(index: 0, arrival: .max) }
}

/// The first and the last node of one queue.
struct QueueEnds {
    fileprivate var first = none
    fileprivate var last = none

    var isEmpty: Bool { @inline(__always) get { first == none } }
}

/// The storage of any number of queues: nodes in one array, linked by their indices.
///
/// Each queue is known by its ends, which its owner keeps and passes to every change. Elements own nothing of the queue, so a
/// queue of any length is released without nested calls. A note with each element has the data that the owner needs.
struct LinkedNodes<Element, Note> {
    private struct Node {
        /// The number of the arrival; that of no element in a free node.
        var arrival: UInt64
        /// The next node of the queue; in a free node, the next free one.
        var next: Int32
        var previous: Int32
        var note: Note
        var element: Element?
    }

    private var nodes: [Node] = []
    private var firstFree = none
    private var arrivals: UInt64 = 0
    /// How many elements there are in all queues.
    private(set) var count = 0

    // MARK: Looking

    var capacity: Int { nodes.capacity }

    @inline(__always)
    func firstArrival(in ends: QueueEnds) -> UInt64? {
        ends.isEmpty ? nil : nodes[Int(ends.first)].arrival
    }

    func firstNote(in ends: QueueEnds) -> Note? {
        ends.isEmpty ? nil : nodes[Int(ends.first)].note
    }

    /// The element that came to a place; nil if it has left.
    subscript(place: QueuePlace) -> Element? {
        holds(place) ? nodes[Int(place.index)].element : nil
    }

    @inline(__always)
    func note(at place: QueuePlace) -> Note? {
        holds(place) ? nodes[Int(place.index)].note : nil
    }

    func places(in ends: QueueEnds) -> [QueuePlace] {
        var places: [QueuePlace] = []
        var index = ends.first
        while index != none {
            places.append(QueuePlace(index: index, arrival: nodes[Int(index)].arrival))
            index = nodes[Int(index)].next
        }
        return places
    }

    /// The elements of all queues, in the order of their arrival.
    var inOrder: [Element] {
        let taken = nodes.indices.filter { nodes[$0].arrival != noArrival }
        return taken.sorted { nodes[$0].arrival < nodes[$1].arrival }.compactMap { nodes[$0].element }
    }

    var placesInOrder: [(place: QueuePlace, note: Note)] {
        let taken = nodes.indices.filter { nodes[$0].arrival != noArrival }
        return taken.sorted { nodes[$0].arrival < nodes[$1].arrival }.map {
            (QueuePlace(index: Int32($0), arrival: nodes[$0].arrival), nodes[$0].note)
        }
    }

    /// Whether the element that came to a place is still there: its node may have another since.
    @inline(__always)
    func holds(_ place: QueuePlace) -> Bool {
        let index = Int(place.index)
        return index < nodes.count && nodes[index].arrival == place.arrival
    }

    // MARK: Changing

    @inline(__always)
    mutating func append(_ element: consuming Element, _ note: Note, to ends: inout QueueEnds) -> QueuePlace {
        arrivals += 1
        count += 1
        let node = Node(arrival: arrivals, next: none, previous: ends.last, note: note, element: element)
        let index: Int32
        if firstFree == none {
            index = Int32(nodes.count)
            nodes.append(node)
        } else {
            index = firstFree
            firstFree = nodes[Int(index)].next
            nodes[Int(index)] = node
        }
        join(index, to: &ends)
        return QueuePlace(index: index, arrival: arrivals)
    }

    /// Adds an element that is here already, with another note, to the end of another queue; its own is no longer used.
    mutating func append(_ place: QueuePlace, _ note: Note, to ends: inout QueueEnds) {
        change(place.index) { node in
            node.note = note
            node.next = none
            node.previous = ends.last
        }
        join(place.index, to: &ends)
    }

    @inline(__always)
    mutating func popFirst(of ends: inout QueueEnds) -> (element: Element, note: Note)? {
        pop(newest: false, of: &ends)
    }

    /// Takes out the newest element of a queue, or the oldest.
    @inline(__always)
    mutating func pop(newest: Bool, of ends: inout QueueEnds) -> (element: Element, note: Note)? {
        guard !ends.isEmpty else { return nil }
        let index = newest ? ends.last : ends.first
        let note = nodes[Int(index)].note
        guard let element = take(at: index, from: &ends) else { return nil }
        return (element, note)
    }

    @inline(__always)
    mutating func remove(_ place: QueuePlace, from ends: inout QueueEnds) -> Element? {
        holds(place) ? take(at: place.index, from: &ends) : nil
    }

    /// Takes out all elements of all queues, whose ends are invalid then, and leaves their order for later.
    mutating func removeAll() -> LinkedNodes {
        var empty = LinkedNodes()
        // Places of elements that are gone must not come back to life.
        empty.arrivals = arrivals
        return replace(&self, with: empty)
    }

    @inline(__always)
    private mutating func join(_ index: Int32, to ends: inout QueueEnds) {
        if ends.last == none { ends.first = index } else { nodes[Int(ends.last)].next = index }
        ends.last = index
    }

    @inline(__always)
    private mutating func take(at index: Int32, from ends: inout QueueEnds) -> Element? {
        // Field by field: a copy of the node would retain its element.
        let (next, previous) = (nodes[Int(index)].next, nodes[Int(index)].previous)
        if previous == none { ends.first = next } else { nodes[Int(previous)].next = next }
        if next == none { ends.last = previous } else { nodes[Int(next)].previous = previous }
        let free = firstFree
        let element = change(index) { node in
            node.arrival = noArrival
            node.next = free
            return node.element.take()
        }
        firstFree = index
        count -= 1
        if count == 0, nodes.count > keptNodes { giveBack() }
        return element
    }

    @inline(__always)
    private mutating func change<Result>(_ index: Int32, _ body: (inout Node) -> Result) -> Result {
        body(&nodes[Int(index)])
    }

    /// A burst does not leave its memory behind.
    @inline(never)
    private mutating func giveBack() {
        nodes = []
        firstFree = none
    }
}

private let none: Int32 = -1
private let noArrival: UInt64 = 0
/// How many nodes an empty storage may keep.
private let keptNodes = 64
