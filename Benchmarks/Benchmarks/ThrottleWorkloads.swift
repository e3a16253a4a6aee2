import BenchmarkSupport
import LoaderChain

private let request = HTTPRequest(method: .get, host: "example.com", path: "/v1/users")
private let okay = HTTPResult.success(HTTPResponse(request: request, status: .ok))

private func load(_ request: HTTPRequest, with chain: HTTPLoader, countingWith count: Counter) {
    let task = HTTPTask(request: request)
    task.addCompletionHandler { _ in count.value &+= 1 }
    chain.load(task: task)
}

/// Loads through a loader, with a terminal that responds at once.
func atOnce(_ loader: @escaping () -> HTTPLoader) -> Benchmark.Setup {
    {
        let loader = loader()
        let chain = loader --> AnsweringLoader(okay)
        return { iterations in
            let count = Counter()
            for _ in 0..<iterations { load(request, with: chain, countingWith: count) }
            (loader as? DeferringThrottle)?.drain()
            precondition(count.value == iterations, "every task has ended")
        }
    }
}

/// A throttle that works on threads of its own.
protocol DeferringThrottle: HTTPLoader {
    /// Returns when all loaded tasks have ended.
    func drain()
}

/// A throttle whose tasks take the longer to end, the more tasks wait.
protocol ForgetfulThrottle: HTTPLoader {
    /// Drops all waiting tasks.
    func forgetWaiting()
}

/// Loads as the other `atOnce` does, with requests to several hosts, each of which has another task in flight.
func atOnce(hosts: Int, _ loader: @escaping () -> HTTPLoader) -> Benchmark.Setup {
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

/// Loads one task and completes the oldest, with a number of tasks between them, each of which may have a deadline.
func waiting(
    behind others: Int, within time: Duration? = nil, _ loader: @escaping () -> HTTPLoader
) -> Benchmark.Setup {
    {
        @Sendable func next() -> HTTPRequest {
            guard let time else { return request }
            var request = request
            request.deadline = .after(time)
            return request
        }
        let line = WaitingLine(loader(), room: others + 2)
        for _ in 0..<others { load(next(), with: line.chain, countingWith: line.count) }
        return { iterations in
            for _ in 0..<iterations {
                load(next(), with: line.chain, countingWith: line.count)
                line.terminal.answerOldest()
            }
            blackHole(line.count.value)
        }
    }
}

/// Cancels one of a number of waiting tasks, and loads another.
func cancelling(among others: Int, _ loader: @escaping () -> HTTPLoader) -> Benchmark.Setup {
    {
        let chain = loader() --> CancellableTerminal()
        var tasks: [HTTPTask] = []
        tasks.reserveCapacity(others)
        for _ in 0..<others { tasks.append(loaded(with: chain)) }
        let held = Box(tasks)
        tasks = []
        var random = SeededGenerator(seed: 1)
        return { iterations in
            for _ in 0..<iterations {
                let index = Int(random.next() % UInt64(others))
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

/// Loads on several threads, each with tasks of its own.
func loading(threads: Int, _ loader: HTTPLoader) -> (Int) -> Void {
    let chain = loader --> AnsweringLoader(okay)
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

/// A chain whose terminal holds tasks, and drops all of them in the end.
private final class WaitingLine {
    let terminal: HoldingTerminal
    let chain: HTTPLoader
    let count = Counter()
    private let loader: HTTPLoader

    init(_ loader: HTTPLoader, room: Int, answersAtOnceAfter held: Int = .max) {
        terminal = HoldingTerminal(room: room, answersAtOnceAfter: held)
        self.loader = loader
        chain = loader --> terminal
    }

    deinit {
        (loader as? ForgetfulThrottle)?.forgetWaiting()
        terminal.answerAll()
    }
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
            task.complete(okay)
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
        task?.complete(okay)
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

/// The least that a loader costs: it passes everything on.
final class PassingLoader: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) { super.load(task: task) }
}
