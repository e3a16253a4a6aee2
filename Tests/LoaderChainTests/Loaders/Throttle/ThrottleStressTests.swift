import Dispatch
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// A throttle among many threads, and over many tasks.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ThrottleStressTests {
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func sixteenThreadsCompleteEachTaskOnceWithinLimits(seed: UInt64) async throws {
        let perHost: UInt? = seed % 2 == 0 ? 3 : nil
        let events = Locked<[Throttle.Event.Kind: Int]>([:])
        let throttle = Throttle(
            limit: 4, perHost: perHost.map { .fixed($0) },
            onEvent: { event in events.withLock { $0[event.kind, default: 0] += 1 } })
        let terminal = CountingTerminal(seed: seed, mostAtOnce: 4, mostPerHost: perHost ?? 4)
        let chain = throttle --> terminal
        let tasksPerThread = 400
        let tally = Tally(threads: 16, tasks: tasksPerThread)
        try onThreads(16) { thread in
            var random = SeededGenerator(seed: seed &* 7_919 &+ UInt64(thread))
            for number in 0..<tasksPerThread {
                var request = HTTPRequest(host: "host-\(random.next() % 3).com")
                request.priority = ThrottlePriority.allCases.randomElement(using: &random) ?? .normal
                let task = chain.load(request: request) { _ in tally.complete(thread, number) }
                switch random.next() % 40 {
                case 0...7: task.cancel()
                case 8: chain.reset {}
                case 9: throttle.maximumNumberOfRequests = UInt(random.next() % 5)
                case 10 where perHost != nil: throttle.perHost = UInt(random.next() % 4)
                default: break
                }
            }
        }
        throttle.maximumNumberOfRequests = 4
        throttle.perHost = perHost
        await tally.waitForAll()
        await chain.reset()
        #expect(tally.mistakes == 0, "seed \(seed): a task completed twice")
        #expect(terminal.excesses == 0, "seed \(seed): more ran than may")
        // The last of the terminal's threads may still be on their way out of the throttle.
        try await eventually("the throttle has nothing left, seed \(seed)") {
            throttle.snapshot == Throttle.Snapshot()
        }
        let heard = events.withLock { $0 }
        #expect(heard[.queued, default: 0] > 0, "seed \(seed): nothing waited")
        #expect(heard[.queued] == heard[.started, default: 0] + heard[.left, default: 0], "seed \(seed): \(heard)")
    }

    @Test func risingLimitIsNeverExceeded() throws {
        // The limit is raised while newcomers arrive: both start tasks, and together no more than there are slots.
        for round in 1...200 as ClosedRange<UInt64> {
            let throttle = Throttle(maximumNumberOfRequests: 0)
            let terminal = CountingTerminal(seed: round, mostAtOnce: 3, mostPerHost: 3)
            let chain = throttle --> terminal
            try onThreads(4) { thread in
                if thread == 0 { for limit in 1...3 { throttle.maximumNumberOfRequests = UInt(limit) } }
                for _ in 0..<10 { chain.load(request: .sample) { _ in } }
            }
            #expect(terminal.excesses == 0, "round \(round)")
        }
    }

    @Test func hundredThousandWaitersStartOnSmallStack() throws {
        try onThreads(1) { _ in
            let throttle = Throttle(maximumNumberOfRequests: 0)
            let chain = throttle --> Answering()
            let count = Locked(0)
            let request = HTTPRequest.sample
            for _ in 0..<100_000 { chain.load(request: request) { _ in count.withLock { $0 += 1 } } }
            #expect(throttle.snapshot.total.waiting == 100_000)
            throttle.maximumNumberOfRequests = 1
            #expect(count.withLock { $0 } == 100_000)
        }
    }

    @Test func resetEndsHundredThousandWaiters() throws {
        try onThreads(1) { _ in
            let throttle = Throttle(maximumNumberOfRequests: 0, perHost: 1)
            let count = Locked(0)
            for _ in 0..<100_000 {
                (throttle as HTTPLoader).load(request: .sample) { _ in count.withLock { $0 += 1 } }
            }
            throttle.reset(with: DispatchGroup())
            #expect(count.withLock { $0 } == 100_000)
        }
    }
}

/// Answers at once or on another thread, and notes whenever more is under way than may be.
private final class CountingTerminal: HTTPLoader, @unchecked Sendable {
    private struct State {
        var running = 0
        var hosts: [String: Int] = [:]
        var excesses = 0
    }
    private let state = Locked(State())
    private let random: RandomSource
    private let mostAtOnce: Int
    private let mostPerHost: Int

    init(seed: UInt64, mostAtOnce: Int, mostPerHost: UInt) {
        random = RandomSource(seed: seed)
        self.mostAtOnce = mostAtOnce
        self.mostPerHost = Int(mostPerHost)
    }

    var excesses: Int { state.withLock { $0.excesses } }

    override func load(task: HTTPTask) {
        let host = task.request.host ?? ""
        state.withLock { state in
            state.running += 1
            state.hosts[host, default: 0] += 1
            if state.running > mostAtOnce || state.hosts[host, default: 0] > mostPerHost { state.excesses += 1 }
        }
        if random.next() % 2 == 0 {
            finish(task, host)
        } else {
            DispatchQueue.global().async { self.finish(task, host) }
        }
    }

    private func finish(_ task: HTTPTask, _ host: String) {
        state.withLock { state in
            state.running -= 1
            state.hosts[host, default: 0] -= 1
        }
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }
}

/// Which tasks have completed.
private final class Tally: Sendable {
    private struct State {
        var completed: [Bool]
        var left: Int
        var mistakes = 0
    }
    private let state: Locked<State>
    private let tasks: Int
    private let done = EventLog()

    init(threads: Int, tasks: Int) {
        self.tasks = tasks
        state = Locked(State(completed: Array(repeating: false, count: threads * tasks), left: threads * tasks))
    }

    var mistakes: Int { state.withLock { $0.mistakes } }

    func complete(_ thread: Int, _ number: Int) {
        let isLast = state.withLock { state in
            let index = thread * tasks + number
            if replace(&state.completed[index], with: true) { state.mistakes += 1 } else { state.left -= 1 }
            return state.left == 0
        }
        if isLast { done.note("all") }
    }

    func waitForAll() async { await done.waitForEvents(1) }
}

private final class Answering: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }
}
