import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct IndexedHeapTests {
    @Test func randomWalksAgreeWithDictionary() {
        takeWalks { seed in
            var random = SeededGenerator(seed: seed)
            var heap = IndexedHeap()
            var model: [Int: UInt64] = [:]
            for _ in 0..<60 {
                let number = Int.random(in: 0..<12, using: &random)
                // Keys differ, as the numbers of arrivals do.
                let key = Bool.random(using: &random) ? random.next() : nil
                heap.update(number, to: key)
                model[number] = key
                let least = model.min { $0.value < $1.value }?.key
                if heap.first != least || heap.isEmpty != model.isEmpty { return "\(heap.first as Any) of \(model)" }
            }
            while let first = heap.first {
                guard first == model.min(by: { $0.value < $1.value })?.key else { return "\(first) of \(model)" }
                heap.update(first, to: nil)
                model[first] = nil
            }
            return model.isEmpty ? nil : "\(model) are missing"
        }
    }
}
