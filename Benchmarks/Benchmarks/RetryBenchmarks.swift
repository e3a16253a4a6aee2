import BenchmarkSupport
import LoaderChain

/// The cost of loaders that retry, slow down and fail fast, while they have nothing to do.
func retryBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let request = HTTPRequest(method: .get, host: "example.com", path: "/v1/users")
    let result = HTTPResult.success(HTTPResponse(request: request, status: .ok))
    let strategy = Backoff.exponential(delay: 0.2, maximumNumberOfAttempts: 4)

    suite.add(
        .slope(
            "retry/pass", "Passes a task without a strategy through a Retry loader.",
            peer: "chain/hop", allocations: 0,
            small: (1, passes(1, request)), large: (101, passes(101, request))))

    suite.add(
        "retry/attempt",
        "Loads a task whose first attempt succeeds: a task and its handler, an attempt with its weak reference, a run.",
        peer: "task/lifecycle", allocations: 5
    ) {
        loads(request, through: Retry(strategy), result)
    }

    suite.add(
        "breaker/pass", "Loads a task through its host's closed circuit, and counts its success.",
        peer: "task/lifecycle", allocations: 3
    ) {
        loads(request, through: CircuitBreaker(), result)
    }

    suite.add(
        "rate-limit/pass", "Loads a task for which there is a token.",
        peer: "task/lifecycle", allocations: 3
    ) {
        let mostPerSecond = 2_000_000_000
        return loads(
            request, through: RateLimit(requests: mostPerSecond, per: .seconds(1), burst: mostPerSecond), result)
    }

    suite.add(
        "rate-limit/quotas", "The same, with a look for quotas that the server reports; it reports none.",
        peer: "rate-limit/pass", allocations: 3
    ) {
        let mostPerSecond = 2_000_000_000
        let limit = RateLimit(
            requests: mostPerSecond, per: .seconds(1), burst: mostPerSecond, serverQuotas: RateLimit.ServerQuotas())
        return loads(request, through: limit, result)
    }

    suite.add("hedge/none", "Loads a task whose response comes later, as below, without a Hedge.", allocations: 3) {
        loadsLater(request, through: HTTPLoader(), result)
    }

    suite.add(
        "hedge/pass",
        "Loads a task through a Hedge that watches it; the response comes before a second attempt is due.",
        peer: "hedge/none", allocations: 8
    ) {
        // Some timer waits in any program that runs; to set the system's wake-up for each task would be all that is seen.
        SystemTimers.shared.schedule(after: .seconds(600)) {}
        let settings = Hedge.Settings(minimumNumberOfSamples: 1, minimumDelay: .seconds(1_000))
        return loadsLater(request, through: Hedge(settings), result)
    }

    var unhedged = request
    unhedged.hedging = .never
    suite.add(
        "hedge/skip", "Loads a task through a Hedge that may not hedge it.", peer: "hedge/none", allocations: 3
    ) {
        loadsLater(unhedged, through: Hedge(), result)
    }

    return suite.benchmarks
}

private func passes(_ count: Int, _ request: HTTPRequest) -> Benchmark.Setup {
    {
        let chain = (0..<count).reduce(SwallowingLoader() as HTTPLoader) { chain, _ in Retry(nil) --> chain }
        let task = HTTPTask(request: request)
        return { iterations in
            for _ in 0..<iterations { chain.load(task: task) }
        }
    }
}

private func loads(_ request: HTTPRequest, through loader: HTTPLoader, _ result: HTTPResult) -> (Int) -> Void {
    let chain = loader --> AnsweringLoader(result)
    return { iterations in
        let count = Count()
        for index in 0..<iterations {
            let task = HTTPTask(request: request)
            task.addCompletionHandler { _ in count.value &+= index }
            chain.load(task: task)
        }
        blackHole(count.value)
    }
}

/// Loads tasks whose response comes when `load` has returned, as from a network.
private func loadsLater(_ request: HTTPRequest, through loader: HTTPLoader, _ result: HTTPResult) -> (Int) -> Void {
    let terminal = Holding()
    let chain = loader --> terminal
    return { iterations in
        let count = Count()
        for index in 0..<iterations {
            let task = HTTPTask(request: request)
            task.addCompletionHandler { _ in count.value &+= index }
            chain.load(task: task)
            terminal.complete(result)
        }
        blackHole(count.value)
    }
}

private final class Count: @unchecked Sendable {
    var value = 0
}

/// Holds one task, to complete it later.
private final class Holding: HTTPLoader, @unchecked Sendable {
    private var held: HTTPTask?
    override func load(task: HTTPTask) { held = task }

    func complete(_ result: HTTPResult) {
        held?.complete(result)
        held = nil
    }
}
