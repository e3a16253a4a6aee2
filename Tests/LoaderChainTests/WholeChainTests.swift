import Dispatch
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// The chain of the throttling article, in its order, under everything that can happen to it at once.
@Suite(.serialized, .timeLimit(.minutes(10))) struct WholeChainTests {
    @Test(arguments: [1, 2] as [UInt64])
    func hundredThousandTasksEachCompleteOnce(seed: UInt64) async throws {
        let threads = 16
        let tasksPerThread = testSize(usually: 6_250)
        let highestLimit = 8
        let completions = Counters(threads * tasksPerThread)
        weak var gone: HTTPLoader?
        do {
            let terminal = CountingTerminal(seed: seed)
            let throttle = Throttle(maximumNumberOfRequests: 4)
            let budget = RetryBudget(timers: ManualTimers())
            let chain =
                ResetGuard() --> Autocancel() --> throttle
                --> ApplyEnvironment(environment: ServerEnvironment(host: "api.example.com", pathPrefix: "/v1"))
                --> Retry(nil, budget: budget) --> HTTPLoader() --> Validate(.nothing) --> terminal
            gone = chain

            let (allThere, tellAllThere) = AsyncStream.makeStream(of: Void.self)
            let left = Countdown(threads * tasksPerThread)
            let resets = DispatchGroup()
            try onThreads(threads) { thread in
                var random = SeededGenerator(seed: seed &* 7_919 &+ UInt64(thread))
                var mine: [HTTPTask] = []
                // So many at a time, or a reset would end nearly all of them before they have begun.
                let outstanding = DispatchSemaphore(value: 20)
                for number in 0..<tasksPerThread {
                    guard outstanding.wait(timeout: .patient) == .success else {
                        Issue.record("none of twenty tasks completes")
                        return
                    }
                    var request = HTTPRequest(path: "people/\(number)")
                    request.retryStrategy = Backoff.immediately(maximumNumberOfAttempts: 3)
                    let index = thread * tasksPerThread + number
                    let isRefused = Locked(false)
                    mine.append(
                        chain.load(request: request) { result in
                            completions.increment(index)
                            if result.error?.code == .resetInProgress { isRefused.withLock { $0 = true } }
                            outstanding.signal()
                            if left.decrement() == 0 { tellAllThere.finish() }
                        })
                    if random.next() % 8 == 0 { mine[Int(random.next() % UInt64(mine.count))].cancel() }
                    if random.next() % 64 == 0 {
                        throttle.maximumNumberOfRequests = 0
                        throttle.maximumNumberOfRequests = 1 + UInt(random.next() % UInt64(highestLimit))
                    }
                    if random.next() % 8_192 == 0 {
                        resets.enter()
                        chain.reset { resets.leave() }
                    }
                    // A reset lasts until a busy machine has a thread for its end. If the others went on loading meanwhile, all
                    // of their tasks could be refused before that.
                    if isRefused.withLock({ $0 }), resets.wait(timeout: .patient) == .timedOut {
                        Issue.record("a reset does not end")
                        return
                    }
                }
            }
            throttle.maximumNumberOfRequests = UInt(highestLimit)
            for await _ in allThere {}
            await chain.reset()

            #expect(completions.values.allSatisfy { $0 == 1 }, "seed \(seed)")
            #expect(terminal.highest <= highestLimit, "seed \(seed): \(terminal.highest) ran at once")
            #expect(terminal.running == 0)
            // One in eight may be cancelled, and each of the few resets ends what is outstanding.
            #expect(terminal.loads > threads * tasksPerThread / 2, "seed \(seed): only \(terminal.loads) got through")
            #expect(throttle.snapshot == Throttle.Snapshot())
        }
        try await eventually("the chain is released") { gone == nil }
    }
}

/// Answers at once or on another thread, well or badly, and counts how many it has at a time.
private final class CountingTerminal: HTTPLoader, @unchecked Sendable {
    private struct Count {
        var running = 0
        var highest = 0
        var loads = 0
    }
    private let random: RandomSource
    private let count = Locked(Count())

    init(seed: UInt64) { random = RandomSource(seed: seed) }

    var running: Int { count.withLock { $0.running } }
    var highest: Int { count.withLock { $0.highest } }
    var loads: Int { count.withLock { $0.loads } }

    override func load(task: HTTPTask) {
        count.withLock { count in
            count.running += 1
            count.loads += 1
            count.highest = max(count.highest, count.running)
        }
        let status: HTTPStatus = random.next() % 10 == 0 ? .serviceUnavailable : .ok
        switch random.next() % 4 {
        case 0: DispatchQueue.global().async { self.answer(task, status) }
        default: answer(task, status)
        }
    }

    private func answer(_ task: HTTPTask, _ status: HTTPStatus) {
        // Uncounted before the completion, which is what lets the next one start.
        count.withLock { $0.running -= 1 }
        task.complete(.success(HTTPResponse(request: task.request, status: status)))
    }
}

private final class Countdown: Sendable {
    private let count: Locked<Int>
    init(_ count: Int) { self.count = Locked(count) }

    func decrement() -> Int {
        count.withLock { count in
            count -= 1
            return count
        }
    }
}

private final class Counters: Sendable {
    private let counts: Locked<[Int]>
    init(_ count: Int) { counts = Locked(Array(repeating: 0, count: count)) }

    var values: [Int] { counts.withLock { $0 } }

    func increment(_ index: Int) { counts.withLock { $0[index] += 1 } }
}
