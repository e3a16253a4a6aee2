import BenchmarkSupport
import LoaderChain
import LoaderChainPlatformFoundation

/// The cost of measuring a request.
func metricsBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let plain = HTTPRequest(method: .get, host: "api.example.com", path: "/v1/users")
    let numbered = HTTPRequest(method: .get, host: "api.example.com", path: "/v1/users/184467/orders/95")

    suite.add(
        .slope(
            "tap/board", "Measures a task whose path has two numbers, for a board: what a tap adds to loading it.",
            limit: .nanoseconds(250), allocations: 3,
            small: (0, loading(numbered) { AnsweringTerminal(numbered) }),
            large: (1, loading(numbered) { MetricsTap(MetricBoard()) --> AnsweringTerminal(numbered) })))

    suite.add(
        .slope(
            "tap/board-plain", "The same for a path that is its own template.", allocations: 1,
            small: (0, loading(plain) { AnsweringTerminal(plain) }),
            large: (1, loading(plain) { MetricsTap(MetricBoard()) --> AnsweringTerminal(plain) })))

    suite.add(
        .slope(
            "tap/no-sink", "Passes a tap without a sink.", peer: "chain/hop", allocations: 0,
            small: (0, loading(plain) { AnsweringTerminal(plain) }),
            large: (1, loading(plain) { MetricsTap(MetricRecorder()) --> AnsweringTerminal(plain) })))

    suite.add("board/record", "Counts a request on a board.", allocations: 0) {
        let board = MetricBoard()
        let metric = HTTPMetric(
            start: Date(timeIntervalSince1970: 0), duration: .milliseconds(30), host: "api.example.com",
            route: "/v1/users/{id}/orders/{id}", outcome: .response(.ok))
        return { iterations in
            for _ in 0..<iterations { board.record(.request(metric)) }
        }
    }
    return suite.benchmarks
}

/// Loads a request as a caller does, through a chain that responds at once.
private func loading(_ request: HTTPRequest, _ chain: @escaping () -> HTTPLoader) -> Benchmark.Setup {
    {
        let chain = chain()
        return { iterations in
            for _ in 0..<iterations { chain.load(request: request) { _ in } }
        }
    }
}

private final class AnsweringTerminal: HTTPLoader, @unchecked Sendable {
    private let result: HTTPResult
    init(_ request: HTTPRequest) { result = .success(HTTPResponse(request: request, status: .ok)) }
    override func load(task: HTTPTask) { task.complete(result) }
}
