import LoaderChain
import LoaderChainPlatformC

/// The schedule of requests, which depends on the seed alone.
struct DemoTraffic: Sendable {
    struct Call: Sendable {
        let time: Duration
        let endpoint: DemoEndpoint
        let request: HTTPRequest
    }

    /// The requests, ordered by time.
    let calls: [Call]

    /// Draws independent arrivals (a Poisson process), like the requests of many users.
    init(seed: UInt64, duration: Duration) {
        let random = RandomSource(seed: seed)
        var calls: [Call] = []
        for endpoint in DemoEndpoint.allCases {
            var seconds = 0.0
            while true {
                seconds += -log(1 - random.unit()) / endpoint.rate
                let time = Duration.seconds(1) * seconds
                guard time < duration else { break }
                calls.append(Call(time: time, endpoint: endpoint, request: endpoint.request(random)))
            }
        }
        self.calls = calls.sorted { $0.time < $1.time }
    }

    /// `count` requests to each endpoint, all at once.
    init(burst count: Int) {
        let random = RandomSource(seed: 1)
        calls = DemoEndpoint.allCases.flatMap { endpoint in
            (0..<count).map { _ in Call(time: .zero, endpoint: endpoint, request: endpoint.request(random)) }
        }
    }
}
