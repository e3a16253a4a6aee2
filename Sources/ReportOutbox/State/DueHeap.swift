import LoaderChain

/// The entries that wait, the one first that is due first; of those due at the same time, the oldest.
///
/// An entry that left for another reason stays behind, so the owner checks whether an item that it takes is still valid.
struct DueHeap {
    struct Item {
        let due: TimerInstant
        let handle: BoxHandle

        func precedes(_ other: Item) -> Bool {
            due != other.due ? due < other.due : handle.sequence < other.handle.sequence
        }
    }

    private var items: [Item] = []

    var first: Item? { items.first }
    var count: Int { items.count }

    mutating func insert(_ item: Item) {
        items.append(item)
        var position = items.count - 1
        while position > 0 {
            let parent = (position - 1) / 2
            guard items[position].precedes(items[parent]) else { return }
            items.swapAt(position, parent)
            position = parent
        }
    }

    mutating func removeFirst() {
        guard let last = items.popLast(), !items.isEmpty else { return }
        items[0] = last
        var position = 0
        while true {
            var child = 2 * position + 1
            guard child < items.count else { return }
            if child + 1 < items.count, items[child + 1].precedes(items[child]) { child += 1 }
            guard items[child].precedes(items[position]) else { return }
            items.swapAt(position, child)
            position = child
        }
    }

    mutating func removeAll() { items = [] }
}

/// What waits in a lane: a heap for each priority.
struct WaitingReports {
    private var heaps = ReportPriority.all.map { _ in DueHeap() }

    subscript(priority: ReportPriority) -> DueHeap {
        get { heaps[priority.rank] }
        _modify { yield &heaps[priority.rank] }
    }

    mutating func removeAll() {
        for rank in heaps.indices { heaps[rank].removeAll() }
    }
}
