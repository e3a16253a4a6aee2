import Dispatch
import Synchronization
import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct ThreadsTests {
    @Test(arguments: [(16, 1), (16, 1000), (1, 10), (3, 0), (7, 100)])
    func everyIndexIsVisitedOnce(threads: Int, total: Int) {
        let sum = Atomic<Int>(0)
        let visits = Atomic<Int>(0)
        onThreads(threads, total: total) { range in
            for index in range {
                sum.wrappingAdd(index, ordering: .relaxed)
                visits.wrappingAdd(1, ordering: .relaxed)
            }
        }
        #expect(visits.load(ordering: .relaxed) == total)
        #expect(sum.load(ordering: .relaxed) == total * (total - 1) / 2)
    }

    @Test func allThreadsRunAtOnce() {
        // Each thread waits for all others, which only works if all of them run at once.
        let threads = 8
        let missing = DispatchGroup()
        for _ in 0..<threads { missing.enter() }
        let met = Atomic<Int>(0)
        onThreads(threads, total: threads) { _ in
            missing.leave()
            if missing.wait(timeout: .now() + .seconds(120)) == .success { met.wrappingAdd(1, ordering: .relaxed) }
        }
        #expect(met.load(ordering: .relaxed) == threads)
    }
}
