import BenchmarkSupport
import LoaderChain

/// The cost that a loader adds to a task that it passes on.
func nodeBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let request = HTTPRequest(
        method: .get, host: "example.com", path: "/v1/users", headers: ["Accept": "application/json"])
    let result = HTTPResult.success(HTTPResponse(request: request, status: .ok))

    suite.add(
        .slope(
            "guard/pass", "Passes a ResetGuard that is open.", peer: "chain/hop", allocations: 0,
            small: (1, passing(1, request) { ResetGuard() }), large: (101, passing(101, request) { ResetGuard() })))

    suite.add(
        .slope(
            "autocancel/pass", "Passes an Autocancel and ends: what that adds to loading a request.",
            limit: .nanoseconds(100), allocations: 0,
            small: (0, loading(request) { AnsweringLoader(result) }),
            large: (1, loading(request) { Autocancel() --> AnsweringLoader(result) })))

    let environment = ServerEnvironment(host: "example.com", pathPrefix: "/v1", headers: ["Accept": "*/*"])
    suite.add(
        .slope(
            "environment/pass", "Passes an ApplyEnvironment with a request that lacks nothing.", peer: "chain/hop",
            allocations: 0,
            small: (1, passing(1, request) { ApplyEnvironment(environment: environment) }),
            large: (101, passing(101, request) { ApplyEnvironment(environment: environment) })))

    suite.add(
        .slope(
            "validate/pass", "Passes a Validate that has nothing to check.", peer: "chain/hop", allocations: 0,
            small: (1, passing(1, request) { Validate(.nothing) }), large: (101, passing(101, request) { Validate() })))

    return suite.benchmarks
}

/// Passes one task down a chain of loaders, again and again, without completing it.
private func passing(_ count: Int, _ request: HTTPRequest, _ loader: @escaping () -> HTTPLoader) -> Benchmark.Setup {
    {
        let chain = (0..<count).reduce(SwallowingLoader() as HTTPLoader) { chain, _ in loader() --> chain }
        let task = HTTPTask(request: request)
        return { iterations in
            for _ in 0..<iterations { chain.load(task: task) }
        }
    }
}

/// Loads a request as a caller does, through a chain that responds at once.
func loading(_ request: HTTPRequest, _ chain: @escaping () -> HTTPLoader) -> Benchmark.Setup {
    {
        let chain = chain()
        return { iterations in
            for _ in 0..<iterations { chain.load(request: request) { _ in } }
        }
    }
}
