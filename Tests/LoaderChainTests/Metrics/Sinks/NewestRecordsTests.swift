import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct NewestRecordsTests {
    /// Against a list in which everything is written down.
    @Test(arguments: [1, 2, 5])
    func newestRecordsAreKeptInOrder(capacity: Int) {
        takeWalks(seeds: 0..<2_000) { seed in
            var generator = SeededGenerator(seed: seed)
            var records = NewestRecords<Int>(capacity: capacity)
            var waiting: [Int] = []
            var dropped = 0
            var hasDelivery = false
            for step in 0..<60 {
                if Int.random(in: 0..<4, using: &generator) > 0 {
                    let isToOrder = records.append(step)
                    if isToOrder == hasDelivery { return "step \(step): to order \(isToOrder) beside \(hasDelivery)" }
                    hasDelivery = true
                    waiting.append(step)
                    if waiting.count > capacity {
                        waiting.removeFirst()
                        dropped += 1
                    }
                } else {
                    // A flush takes the records, and leaves the delivery that was ordered where it is.
                    let isFlush = Bool.random(using: &generator)
                    let taken = isFlush ? records.takeAll() : records.beginDelivery()
                    if !isFlush { hasDelivery = false }
                    if taken != waiting { return "step \(step): \(taken) for \(waiting)" }
                    waiting = []
                }
                if records.dropped != dropped { return "step \(step): dropped \(records.dropped) for \(dropped)" }
            }
            return nil
        }
    }

    @Test func zeroCapacityHoldsOneRecord() {
        var records = NewestRecords<Int>(capacity: 0)
        #expect(records.append(1) && !records.append(2))
        #expect(records.takeAll() == [2] && records.takeAll().isEmpty && records.dropped == 1)
    }
}
