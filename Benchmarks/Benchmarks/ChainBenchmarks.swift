import BenchmarkSupport
import LoaderChain

/// The cost of a task, and of passing it through loaders.
func chainBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let request = HTTPRequest(method: .get, host: "example.com", path: "/v1/users")
    let result = HTTPResult.success(HTTPResponse(request: request, status: .ok))

    suite.add(
        "task/lifecycle", "Makes a task, adds a completion handler that keeps a value, and completes it.",
        limit: .nanoseconds(150), allocations: 3
    ) {
        { iterations in liveTasks(0..<iterations, request, result) }
    }

    suite.add(
        "task/threads-16",
        "The same on sixteen threads, each with tasks of its own; the wall time for each task of all threads.",
        peer: "task/lifecycle", allocations: 3
    ) {
        { iterations in onThreads(16, total: iterations) { range in liveTasks(range, request, result) } }
    }

    suite.add(
        .slope(
            "chain/hop", "Hands a task from one loader to the next, through an overridden load(task:).",
            peer: "peer/closure-fold", limit: .nanoseconds(12), allocations: 0,
            small: (1, hops(1, request)), large: (101, hops(101, request))))

    suite.add(
        .slope(
            "peer/closure-fold", "Hands a request from one middleware closure to the next.", peer: "chain/hop",
            small: (1, closureHops(1, request)), large: (101, closureHops(101, request))))

    suite.add(
        .slope(
            "peer/protocol-existential",
            "Hands a request from one existential value to the next, stored as `any`.", peer: "chain/hop",
            small: (1, existentialHops(1, request)), large: (101, existentialHops(101, request))))

    suite.add(
        "chain/load", "Loads a request through two loaders to a terminal that responds at once, as a caller does.",
        allocations: 3
    ) {
        let chain = PassingLoader() --> PassingLoader() --> AnsweringLoader(result)
        return { iterations in
            let count = Box(0)
            for _ in 0..<iterations { chain.load(request: request) { _ in count.value &+= 1 } }
            blackHole(count.value)
        }
    }

    suite.add(
        "chain/seven-nodes",
        """
        Loads a request through guard, autocancel, throttle, environment, retry, a pass-through and validate, over a \
        terminal that answers at once: everything that a caller pays for.
        """,
        limit: .nanoseconds(700), allocations: 8
    ) {
        let chain =
            ResetGuard() --> Autocancel() --> Throttle(maximumNumberOfRequests: 100)
            --> ApplyEnvironment(environment: ServerEnvironment(host: "example.com")) --> Retry(nil) --> PassingLoader()
            --> Validate(.nothing) --> AnsweringLoader(result)
        var request = request
        request.retryStrategy = Backoff.immediately(maximumNumberOfAttempts: 3)
        return { [request] iterations in
            let count = Box(0)
            for _ in 0..<iterations { chain.load(request: request) { _ in count.value &+= 1 } }
            blackHole(count.value)
        }
    }

    return suite.benchmarks
}

/// The cost of a request and its options.
func requestBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let plain = HTTPRequest(method: .get, host: "example.com", path: "/v1/users")

    suite.add(
        "request/option-read", "Reads the third of three options that a request has set.",
        limit: .nanoseconds(10), allocations: 0
    ) {
        var request = plain
        request[option: Priority.self] = .high
        request[option: Weight.self] = 0.5
        request[option: Attempts.self] = 3
        var other = request
        other[option: Attempts.self] = 4
        // Two requests, so that the loop cannot read one of them once and add it repeatedly.
        return { [request, other] iterations in
            var sum = 0
            for iteration in 0..<iterations { sum &+= attempts(of: iteration & 1 == 0 ? request : other) }
            blackHole(sum)
        }
    }

    suite.add(
        .slope(
            "request/three-options", "Sets three options of a request: what that adds to making the request.",
            allocations: 4,
            small: (
                0,
                {
                    { iterations in
                        for _ in 0..<iterations { blackHole(HTTPRequest(host: "example.com")) }
                    }
                }
            ),
            large: (
                1,
                {
                    { iterations in
                        for _ in 0..<iterations {
                            var request = HTTPRequest(host: "example.com")
                            request[option: Priority.self] = .high
                            request[option: Weight.self] = 0.5
                            request[option: Attempts.self] = 3
                            blackHole(request)
                        }
                    }
                }
            )))

    return suite.benchmarks
}

/// Not inlined, as when a loader reads an option.
@inline(never)
private func attempts(of request: HTTPRequest) -> Int { request[option: Attempts.self] }

private func liveTasks(_ range: Range<Int>, _ request: HTTPRequest, _ result: HTTPResult) {
    let count = Box(0)
    for index in range {
        let task = HTTPTask(request: request)
        task.addCompletionHandler { _ in count.value &+= index }
        task.complete(result)
    }
    blackHole(count.value)
}

private func hops(_ count: Int, _ request: HTTPRequest) -> Benchmark.Setup {
    {
        let chain = (0..<count).reduce(SwallowingLoader() as HTTPLoader) { chain, _ in PassingLoader() --> chain }
        let task = HTTPTask(request: request)
        return { iterations in
            for _ in 0..<iterations { chain.load(task: task) }
        }
    }
}

private func closureHops(_ count: Int, _ request: HTTPRequest) -> Benchmark.Setup {
    {
        typealias Handler = (HTTPRequest) -> Void
        let end: Handler = { blackHole($0.method) }
        let chain = (0..<count).reduce(end) { next, _ in middleware(next) }
        return { iterations in
            for _ in 0..<iterations { chain(request) }
        }
    }
}

@inline(never)
private func middleware(_ next: @escaping (HTTPRequest) -> Void) -> (HTTPRequest) -> Void {
    { request in next(request) }
}

private func existentialHops(_ count: Int, _ request: HTTPRequest) -> Benchmark.Setup {
    {
        let chain = (0..<count).reduce(LastHandler() as any RequestHandler) { next, _ in PassingHandler(next: next) }
        return { iterations in
            for _ in 0..<iterations { chain.handle(request) }
        }
    }
}

private protocol RequestHandler {
    func handle(_ request: HTTPRequest)
}

private struct PassingHandler: RequestHandler {
    let next: any RequestHandler
    @inline(never)
    func handle(_ request: HTTPRequest) { next.handle(request) }
}

private struct LastHandler: RequestHandler {
    @inline(never)
    func handle(_ request: HTTPRequest) { blackHole(request.method) }
}

/// A number that a handler increments, in place of a user's state.
private final class Box: @unchecked Sendable {
    var value: Int
    init(_ value: Int) { self.value = value }
}

/// Takes a task and does nothing, so that one task can be passed down many times.
final class SwallowingLoader: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {}
}

/// Completes every task at once, with the same result.
final class AnsweringLoader: HTTPLoader, @unchecked Sendable {
    private let result: HTTPResult
    init(_ result: HTTPResult) { self.result = result }
    override func load(task: HTTPTask) { task.complete(result) }
}

private enum Priority: HTTPRequestOption {
    static var defaultOptionValue: Priority { .normal }
    case normal, high
}

private enum Weight: HTTPRequestOption {
    static var defaultOptionValue: Double { 1 }
}

private enum Attempts: HTTPRequestOption {
    static var defaultOptionValue: Int { 1 }
}
