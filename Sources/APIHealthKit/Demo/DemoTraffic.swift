import LoaderChain

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Which requests are made when: what a seed says, and nothing else.
struct DemoTraffic: Sendable {
    /// One request.
    struct Call: Sendable {
        let time: Duration
        let endpoint: DemoEndpoint
        let request: HTTPRequest
    }

    /// The requests in the order of their times.
    let calls: [Call]

    /// Draws requests that come independently of each other, as those of many people do.
    init(seed: UInt64, duration: Duration) {
        let dice = Dice(seed: seed)
        var calls: [Call] = []
        for endpoint in DemoEndpoint.allCases {
            var seconds = 0.0
            while true {
                seconds += -log(1 - dice.unit()) / endpoint.rate
                let time = Duration.seconds(1) * seconds
                guard time < duration else { break }
                calls.append(Call(time: time, endpoint: endpoint, request: endpoint.request(dice)))
            }
        }
        self.calls = calls.sorted { $0.time < $1.time }
    }

    /// So many requests to each endpoint, all at once.
    init(burst count: Int) {
        let dice = Dice(seed: 1)
        calls = DemoEndpoint.allCases.flatMap { endpoint in
            (0..<count).map { _ in Call(time: .zero, endpoint: endpoint, request: endpoint.request(dice)) }
        }
    }
}
