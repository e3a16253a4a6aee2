import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct SinkQueueStateTests {
    /// Against lists in which everything is written down.
    @Test(arguments: [1, 2, 5])
    func itBringsEverythingInOrderButTheOldest(capacity: Int) {
        takeWalks(seeds: 0..<2_000) { seed in
            var generator = SeededGenerator(seed: seed)
            var state = SinkQueueState<Int, Int>(capacity: capacity)
            var waiting: [Int] = []
            var inDelivery: [Int] = []
            var isDelivering = false
            var dropped = 0
            var offered = 0
            var waiters: [(name: Int, unsettled: Set<Int>)] = []
            func settle(_ records: [Int]) {
                for index in waiters.indices { waiters[index].unsettled.subtract(records) }
            }
            for step in 0..<60 {
                switch Int.random(in: 0..<4, using: &generator) {
                case 0, 1:
                    offered += 1
                    let begins = state.offer(offered)
                    waiting.append(offered)
                    if waiting.count > capacity {
                        settle([waiting.removeFirst()])
                        dropped += 1
                    }
                    if begins == isDelivering { return "step \(step): begins \(begins)" }
                    isDelivering = true
                case 2:
                    let isSettled = state.flush(step)
                    let unsettled = Set(waiting + inDelivery)
                    // The delivering thread has not said yet that it is done.
                    if isSettled == isDelivering { return "step \(step): settled \(isSettled) with \(unsettled)" }
                    if !isSettled { waiters.append((step, unsettled)) }
                default:
                    guard isDelivering else { continue }
                    settle(inDelivery)
                    let round = state.next()
                    let flushed = waiters.filter(\.unsettled.isEmpty).map(\.name)
                    waiters.removeAll { $0.unsettled.isEmpty }
                    if round.flushed != flushed { return "step \(step): flushed \(round.flushed) for \(flushed)" }
                    if round.batch != waiting { return "step \(step): \(round.batch) for \(waiting)" }
                    inDelivery = waiting
                    waiting = []
                    isDelivering = !inDelivery.isEmpty
                }
                if state.dropped != dropped { return "step \(step): dropped \(state.dropped) for \(dropped)" }
            }
            return nil
        }
    }
}
