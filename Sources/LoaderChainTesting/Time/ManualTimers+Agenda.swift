import LoaderChain

/// The waiting timers in a binary heap, ordered by deadline and then by turn.
///
/// Every timer knows its position, so that it can be removed at once when it is cancelled.
struct ManualAgenda {
    private var heap: [ManualTimer] = []

    var count: Int { heap.count }

    var first: ManualTimer? { heap.first }

    mutating func insert(_ timer: ManualTimer, at deadline: TimerInstant, sequence: Int) {
        timer.deadline = deadline
        timer.sequence = sequence
        heap.append(timer)
        moveUp(timer, from: heap.count - 1)
    }

    /// Removes a timer.
    ///
    /// - Returns: Whether it was here.
    mutating func remove(_ timer: ManualTimer) -> Bool {
        guard let position = timer.position else { return false }
        timer.position = nil
        let last = heap.removeLast()
        guard last !== timer else { return true }
        // The last timer takes the free position, and moves to its own from there.
        moveUp(last, from: position)
        if last.position == position { moveDown(last, from: position) }
        return true
    }

    /// Removes all timers, in no particular order.
    mutating func removeAll() -> [ManualTimer] {
        defer { heap = [] }
        for timer in heap { timer.position = nil }
        return heap
    }

    private mutating func moveUp(_ timer: ManualTimer, from start: Int) {
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard timer.precedes(heap[parent]) else { break }
            put(heap[parent], at: position)
            position = parent
        }
        put(timer, at: position)
    }

    private mutating func moveDown(_ timer: ManualTimer, from start: Int) {
        var position = start
        while true {
            var child = 2 * position + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
            guard heap[child].precedes(timer) else { break }
            put(heap[child], at: position)
            position = child
        }
        put(timer, at: position)
    }

    private mutating func put(_ timer: ManualTimer, at position: Int) {
        heap[position] = timer
        timer.position = position
    }
}

/// A timer on the agenda.
///
/// The lock of its owner guards its position; the code that removes it from the agenda owns its action.
final class ManualTimer: ScheduledTimer, @unchecked Sendable {
    fileprivate(set) var deadline = TimerInstant(nanoseconds: 0)
    fileprivate var sequence = 0
    fileprivate var position: Int?
    private weak var owner: ManualTimers?
    private var action: (@Sendable () -> Void)?

    init(owner: ManualTimers, action: @escaping @Sendable () -> Void) {
        self.owner = owner
        self.action = action
    }

    func cancel() -> Bool {
        guard let owner, owner.remove(self) else { return false }
        drop()
        return true
    }

    func run() {
        replace(&action, with: nil)?()
    }

    func drop() {
        action = nil
    }

    fileprivate func precedes(_ other: ManualTimer) -> Bool {
        (deadline, sequence) < (other.deadline, other.sequence)
    }
}
