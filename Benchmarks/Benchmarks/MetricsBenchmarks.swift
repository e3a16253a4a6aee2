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
            small: (0, loading(numbered) { answering(numbered) }),
            large: (1, loading(numbered) { MetricsTap(MetricBoard()) --> answering(numbered) })))

    suite.add(
        .slope(
            "tap/board-plain", "The same for a path that is its own template.", allocations: 1,
            small: (0, loading(plain) { answering(plain) }),
            large: (1, loading(plain) { MetricsTap(MetricBoard()) --> answering(plain) })))

    suite.add(
        .slope(
            "tap/no-sink", "Passes a tap without a sink.", peer: "chain/hop", allocations: 0,
            small: (0, loading(plain) { answering(plain) }),
            large: (1, loading(plain) { MetricsTap(MetricRecorder()) --> answering(plain) })))

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

/// A terminal that responds to the request at once.
private func answering(_ request: HTTPRequest) -> AnsweringLoader {
    AnsweringLoader(.success(HTTPResponse(request: request, status: .ok)))
}
