import Testing

@testable import LoaderChain

/// Queues in one storage against arrays.
@Suite(.timeLimit(.minutes(10))) struct LinkedQueueTests {
    @Test(arguments: 0..<10) func randomWalksAgreeWithArrays(group: UInt64) {
        takeWalks(group: group) { seed in
            let walk = QueuesWalk(seed: seed)
            for _ in 0..<80 where walk.fault.isEmpty { walk.step() }
            return walk.fault
        }
    }

    @Test func placeIsValidForOneElementOnly() {
        var queue = LinkedQueue<String>()
        let first = queue.append("first")
        #expect(queue.popFirst() == "first")
        // The second element moves into the node that the first has left.
        let second = queue.append("second")
        #expect(queue.remove(first) == nil)
        #expect(queue.remove(second) == "second")
        #expect(queue.remove(second) == nil && queue.isEmpty)
    }

    @Test func queueOwnsItsElements() {
        final class Entry {}
        weak var left: Entry?
        weak var stayed: Entry?
        do {
            var queue = LinkedQueue<Entry>()
            do {
                let entries = (0..<2).map { _ in Entry() }
                (left, stayed) = (entries[0], entries[1])
                let place = queue.append(entries[0])
                _ = queue.append(entries[1])
                #expect(queue.remove(place) != nil)
            }
            #expect(left == nil && stayed != nil)
            #expect(queue.count == 1)
        }
        #expect(stayed == nil)
    }

    @Test func longQueueIsReleasedWithoutRecursion() throws {
        final class Entry {}
        try onThreads(1) { _ in
            var queue = LinkedQueue<Entry>()
            for _ in 0..<100_000 { _ = queue.append(Entry()) }
        }
    }

    @Test func memoryIsFreedAfterBurst() {
        var queue = LinkedQueue<Int>()
        for _ in 0..<2 {
            let places = (0..<10_000).map { queue.append($0) }
            #expect(queue.capacity >= 10_000)
            for place in places.dropFirst() { _ = queue.remove(place) }
            #expect(queue.popFirst() == 0 && queue.popFirst() == nil)
            #expect(queue.capacity < 1_000)
        }
    }

    @Test func shortQueueReusesItsMemory() {
        var queue = LinkedQueue<Int>()
        for number in 0..<4 { _ = queue.append(number) }
        let capacity = queue.capacity
        for number in 4..<10_000 {
            #expect(queue.popFirst() == number - 4)
            _ = queue.append(number)
        }
        while queue.popFirst() != nil {}
        #expect(queue.capacity == capacity)
    }
}

/// Three queues in one storage, and the arrays that they must equal.
private final class QueuesWalk {
    private(set) var fault = ""
    private var random: SeededGenerator
    private var nodes = LinkedNodes<Int, String>()
    private var ends = Array(repeating: QueueEnds(), count: 3)
    private var models: [[(number: Int, place: QueuePlace)]] = [[], [], []]
    private var gone: [QueuePlace] = []
    private var arrivals = 0
    private var steps = 0
    /// A walk of long queues now and then gives memory back.
    private let isLong: Bool

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        isLong = seed % 500 == 0
    }

    func step() {
        let queue = Int.random(in: 0..<3, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            for _ in 0..<(isLong ? 30 : 1) { append(to: queue) }
        case 4, 5:
            guard let index = models[queue].indices.randomElement(using: &random) else { break }
            let (number, place) = models[queue].remove(at: index)
            expect(nodes.holds(place) && nodes[place] == number, "\(number) is not at its place")
            expect(nodes.note(at: place) == "note \(number)", "\(number) has another note")
            expect(nodes.remove(place, from: &ends[queue]) == number, "\(number) could not be removed")
            gone.append(place)
        case 6:
            let popped = nodes.popFirst(of: &ends[queue])
            expect(popped?.element == models[queue].first?.number, "popped \(popped as Any)")
            if let popped { expect(popped.note == "note \(popped.element)", "popped with \(popped.note)") }
            if popped != nil { gone.append(models[queue].removeFirst().place) }
        case 7:
            guard let place = gone.randomElement(using: &random) else { break }
            let isBack = nodes.holds(place) || nodes[place] != nil || nodes.note(at: place) != nil
            expect(!isBack && nodes.remove(place, from: &ends[queue]) == nil, "one left twice")
        case 8 where Bool.random(using: &random):
            move(from: queue, to: (queue + 1) % 3)
        default:
            if Int.random(in: 0..<8, using: &random) == 0 { removeAll() }
        }
        // Long queues take long to compare.
        steps += 1
        if !isLong || steps.isMultiple(of: 10) { compare() }
    }

    private func append(to queue: Int) {
        arrivals += 1
        models[queue].append((arrivals, nodes.append(arrivals, "note \(arrivals)", to: &ends[queue])))
    }

    /// Gives one queue up, and lets all of it stand behind another.
    private func move(from queue: Int, to other: Int) {
        for (entry, place) in zip(models[queue], nodes.places(in: ends[queue])) {
            nodes.append(place, "note \(entry.number)", to: &ends[other])
        }
        ends[queue] = QueueEnds()
        models[other] += models[queue]
        models[queue] = []
    }

    private func removeAll() {
        let expected = models.joined().map(\.number).sorted()
        expect(nodes.removeAll().inOrder == expected, "they were not removed in the order of their arrival")
        gone += models.joined().map(\.place)
        ends = Array(repeating: QueueEnds(), count: 3)
        models = [[], [], []]
    }

    private func compare() {
        expect(nodes.count == models.joined().count, "it counts \(nodes.count)")
        for (ends, model) in zip(ends, models) {
            expect(nodes.places(in: ends) == model.map(\.place), "a queue is out of order")
            expect(nodes.firstArrival(in: ends) == model.first?.place.arrival, "another is the first")
            expect(ends.isEmpty == model.isEmpty, "a queue is wrongly empty, or not")
        }
        expect(nodes.inOrder == models.joined().map(\.number).sorted(), "the order of arrival is another")
    }

    private func expect(_ isTrue: Bool, _ message: @autoclosure () -> String) {
        if !isTrue, fault.isEmpty { fault = message() }
    }
}
