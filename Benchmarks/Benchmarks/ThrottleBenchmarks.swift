import BenchmarkSupport
import LoaderChain

/// What it costs to be throttled, beyond what a loader costs that passes everything on.
func throttleBenchmarks() -> [Benchmark] {
    let suite = Suite()

    suite.add(
        .slope(
            "throttle/uncontended", "A task that starts at once and completes: what a throttle adds to a plain loader.",
            peer: "peer/semaphore", limit: .nanoseconds(70), allocations: 0,
            small: (0, atOnce { PassingLoader() }), large: (1, atOnce { Throttle(maximumNumberOfRequests: 4) })))
    suite.add(
        .slope(
            "peer/semaphore", "The same for a loader that waits for a DispatchSemaphore and signals it at the end.",
            small: (0, atOnce { PassingLoader() }), large: (1, atOnce { SemaphoreThrottle(slots: 4) })))

    for (count, peer) in [(1, nil), (1_000, "peer/article-throttle"), (1_000_000, nil)] {
        suite.add(
            .slope(
                "throttle/pending-\(count)",
                "A task that waits behind \(count) others: what a throttle adds to a terminal that holds as many.",
                peer: peer, limit: .nanoseconds(140), allocations: 1,
                small: (0, waiting(behind: count) { PassingLoader() }),
                large: (1, waiting(behind: count) { Throttle(maximumNumberOfRequests: 1) })))
    }
    suite.add(
        .slope(
            "peer/article-throttle", "The same behind 1,000 others, with the article's throttle and a lock around it.",
            small: (0, waiting(behind: 1_000) { PassingLoader() }),
            large: (1, waiting(behind: 1_000) { ArticleThrottle(limit: 1) })))

    for count in [10, 1_000_000] {
        suite.add(
            .slope(
                "throttle/cancel-pending-\(count)",
                "Cancels any one of \(count) waiting tasks and loads another: what a throttle adds to a terminal.",
                limit: .nanoseconds(250), allocations: 1,
                small: (0, cancelling(among: count) { PassingLoader() }),
                large: (1, cancelling(among: count) { Throttle(maximumNumberOfRequests: 0) })))
    }

    suite.add(
        "throttle/threads-1", "Makes a task, loads it through a throttle, and has it answered at once.", allocations: 1
    ) { loading(threads: 1, Throttle(maximumNumberOfRequests: 4)) }
    for threads in [2, 16] {
        suite.add(
            "throttle/threads-\(threads)",
            "The same on \(threads) threads with one throttle, at most 3 × slower; the wall time for each task of all threads.",
            peer: "throttle/threads-1", allocations: 1
        ) { loading(threads: threads, Throttle(maximumNumberOfRequests: 4)) }
    }

    suite.add(
        .slope(
            "throttle/per-host", "A task that starts at once, among those of eight busy hosts, with a limit per host.",
            allocations: 1,
            small: (0, atOnce(hosts: 8) { PassingLoader() }),
            large: (1, atOnce(hosts: 8) { Throttle(maximumNumberOfRequests: 64, perHost: 4) })))
    return suite.benchmarks
}

private let request = HTTPRequest(method: .get, host: "example.com", path: "/v1/users")
private let result = HTTPResult.success(HTTPResponse(request: request, status: .ok))

private func load(_ request: HTTPRequest, with chain: HTTPLoader, countingWith count: Counter) {
    let task = HTTPTask(request: request)
    task.addCompletionHandler { _ in count.value &+= 1 }
    chain.load(task: task)
}

/// Loads through a loader, with a terminal that answers at once.
private func atOnce(_ loader: @escaping () -> HTTPLoader) -> Benchmark.Setup {
    {
        let chain = loader() --> AnsweringLoader(result)
        return { iterations in
            let count = Counter()
            for _ in 0..<iterations { load(request, with: chain, countingWith: count) }
            blackHole(count.value)
        }
    }
}

/// The same for requests of so many hosts, each of which has another task under way.
private func atOnce(hosts: Int, _ loader: @escaping () -> HTTPLoader) -> Benchmark.Setup {
    {
        let requests = (0..<hosts).map { HTTPRequest(host: "host-\($0).com") }
        let line = WaitingLine(loader(), room: hosts, answersAtOnceAfter: hosts)
        for request in requests { load(request, with: line.chain, countingWith: line.count) }
        return { iterations in
            for index in 0..<iterations { load(requests[index % hosts], with: line.chain, countingWith: line.count) }
            blackHole(line.count.value)
        }
    }
}

/// Loads one task and completes the oldest, with so many between them.
private func waiting(behind others: Int, _ loader: @escaping () -> HTTPLoader) -> Benchmark.Setup {
    {
        let line = WaitingLine(loader(), room: others + 2)
        for _ in 0..<others { load(request, with: line.chain, countingWith: line.count) }
        return { iterations in
            for _ in 0..<iterations {
                load(request, with: line.chain, countingWith: line.count)
                line.terminal.answerOldest()
            }
            blackHole(line.count.value)
        }
    }
}

/// Cancels a task, of so many that wait, and loads one in its place.
private func cancelling(among others: Int, _ loader: @escaping () -> HTTPLoader) -> Benchmark.Setup {
    {
        let chain = loader() --> CancellableTerminal()
        var tasks: [HTTPTask] = []
        tasks.reserveCapacity(others)
        for _ in 0..<others { tasks.append(loaded(with: chain)) }
        let held = Box(tasks)
        tasks = []
        var dice = SeededGenerator(seed: 1)
        return { iterations in
            for _ in 0..<iterations {
                let index = Int(dice.next() % UInt64(others))
                held.value[index].cancel()
                held.value[index] = loaded(with: chain)
            }
        }
    }
}

private func loaded(with chain: HTTPLoader) -> HTTPTask {
    let task = HTTPTask(request: request)
    chain.load(task: task)
    return task
}

/// Loads on so many threads, each with tasks of its own.
private func loading(threads: Int, _ loader: HTTPLoader) -> (Int) -> Void {
    let chain = loader --> AnsweringLoader(result)
    return { iterations in
        onThreads(threads, total: iterations) { range in
            let count = Counter()
            for _ in range { load(request, with: chain, countingWith: count) }
            blackHole(count.value)
        }
    }
}

private final class Counter: @unchecked Sendable {
    var value = 0
}

private final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// A chain whose terminal holds tasks, and that lets go of all of them in the end.
private final class WaitingLine {
    let terminal: HoldingTerminal
    let chain: HTTPLoader
    let count = Counter()

    init(_ loader: HTTPLoader, room: Int, answersAtOnceAfter held: Int = .max) {
        terminal = HoldingTerminal(room: room, answersAtOnceAfter: held)
        chain = loader --> terminal
    }

    deinit { terminal.answerAll() }
}

/// Holds tasks in the order of their arrival, on one thread.
private final class HoldingTerminal: HTTPLoader, @unchecked Sendable {
    private var ring: [HTTPTask?]
    private var first = 0
    private var count = 0
    private var mostHeld: Int

    init(room: Int, answersAtOnceAfter mostHeld: Int) {
        ring = Array(repeating: nil, count: room)
        self.mostHeld = mostHeld
    }

    override func load(task: HTTPTask) {
        guard count < mostHeld else {
            task.complete(result)
            return
        }
        let end = first + count
        ring[end < ring.count ? end : end - ring.count] = task
        count += 1
    }

    func answerOldest() {
        let task = ring[first].take()
        first = first + 1 < ring.count ? first + 1 : 0
        count -= 1
        task?.complete(result)
    }

    func answerAll() {
        mostHeld = 0
        while count > 0 { answerOldest() }
    }
}

private final class CancellableTerminal: HTTPLoader, HTTPTaskObserver, @unchecked Sendable {
    override func load(task: HTTPTask) { task.addObserver(self) }
    func taskWasCancelled(_ task: HTTPTask) { fail(task, .cancelled) }
    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {}
}

private final class PassingLoader: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) { super.load(task: task) }
}

private final class AnsweringLoader: HTTPLoader, @unchecked Sendable {
    private let result: HTTPResult
    init(_ result: HTTPResult) { self.result = result }
    override func load(task: HTTPTask) { task.complete(result) }
}
