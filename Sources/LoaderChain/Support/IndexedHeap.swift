/// Small numbers in the order of their keys, the least on top, any of which can be moved or taken out.
///
/// Each number's position is kept in an array, so the numbers are to be counted from zero without large gaps.
struct IndexedHeap {
    private var items: [(number: Int, key: UInt64)] = []
    /// Where each number stands among the items; nil for one that is not here.
    private var positions: [Int?] = []

    var isEmpty: Bool { items.isEmpty }
    var count: Int { items.count }
    /// The number with the least key.
    var first: Int? { items.first?.number }

    /// Moves a number to where its key belongs, or takes it out if it has none.
    mutating func update(_ number: Int, to key: UInt64?) {
        let position = number < positions.count ? positions[number] : nil
        switch (position, key) {
        case (nil, nil):
            break  // It is not here, and is not to be.
        case (nil, let key?):
            if number >= positions.count {
                positions.append(contentsOf: repeatElement(nil, count: number + 1 - positions.count))
            }
            items.append((number, key))
            rise(from: items.count - 1)
        case (let position?, let key?):
            items[position].key = key
            settle(from: position)
        case (let position?, nil):
            positions[number] = nil
            let last = items.removeLast()
            guard last.number != number else { break }
            place(last, at: position)
            settle(from: position)
        }
    }

    private mutating func place(_ item: (number: Int, key: UInt64), at position: Int) {
        items[position] = item
        positions[item.number] = position
    }

    private mutating func settle(from position: Int) {
        // Of the two, one does nothing.
        sink(from: rise(from: position))
    }

    @discardableResult
    private mutating func rise(from start: Int) -> Int {
        let item = items[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard item.key < items[parent].key else { break }
            place(items[parent], at: position)
            position = parent
        }
        place(item, at: position)
        return position
    }

    private mutating func sink(from start: Int) {
        let item = items[start]
        var position = start
        while true {
            var child = 2 * position + 1
            guard child < items.count else { break }
            if child + 1 < items.count, items[child + 1].key < items[child].key { child += 1 }
            guard items[child].key < item.key else { break }
            place(items[child], at: position)
            position = child
        }
        place(item, at: position)
    }
}
