import LoaderChain
import LoaderChainPlatformC
import LoaderChainTesting

/// The demo API: a real server on a loopback socket that no other machine can reach.
final class DemoServer: Sendable {
    private let server: LoopbackServer

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - seed: the seed of its faults and delays.
    ///   - outage: how long the payments endpoint is down.
    init(seed: UInt64, outage: Duration, timers: any Timers) throws(ProgramError) {
        do {
            server = try LoopbackServer()
        } catch {
            throw ProgramError(.failure, "the demo API cannot listen on 127.0.0.1: \(Plain.text("\(error)"))")
        }
        let random = RandomSource(seed: ~seed)
        let start = timers.now
        server.fallback { request in
            // Every article has its own path.
            guard request.path.hasPrefix("/v1/articles/") else { return .status(.notFound) }
            let delay = random.duration(in: .milliseconds(2)...(.milliseconds(14)))
            return .json(#"{"title":"Why we wait"}"#).delayed(delay)
        }
        server.route("/v1/search") { _ in
            .json(#"{"found":[]}"#).delayed(random.duration(in: .milliseconds(120)...(.milliseconds(700))))
        }
        server.route("/v1/cart", method: .put) { _ in
            let roll = random.unit()
            let delay = random.duration(in: .milliseconds(8)...(.milliseconds(40)))
            if roll < 0.06 { return .hangUp().delayed(delay) }
            return roll < 0.3 ? .status(.serviceUnavailable).delayed(delay) : .json("{}").delayed(delay)
        }
        let ration = Locked(DemoRation(perSecond: 6, at: start))
        server.route("/v1/rates") { _ in
            let now = timers.now
            let isGranted = ration.withLock { $0.take(at: now) }
            let delay = random.duration(in: .milliseconds(4)...(.milliseconds(20)))
            return isGranted
                ? .json(#"{"EUR":1}"#).delayed(delay) : LoopbackReply(.tooManyRequests).header("Retry-After", "1")
        }
        let end = start.advanced(by: outage)
        server.route("/v1/payments") { _ in
            let delay = random.duration(in: .milliseconds(5)...(.milliseconds(30)))
            return timers.now < end ? .status(.internalServerError).delayed(delay) : .json("{}").delayed(delay)
        }
    }

    var port: Int { server.port }

    func stop() { server.stop() }
}

/// Counts requests in a fixed window of one second.
struct DemoRation {
    private let perSecond: Int
    private var second: TimerInstant
    private var taken = 0

    init(perSecond: Int, at now: TimerInstant) {
        self.perSecond = perSecond
        second = now
    }

    mutating func take(at now: TimerInstant) -> Bool {
        if second.duration(to: now) >= .seconds(1) {
            second = now
            taken = 0
        }
        guard taken < perSecond else { return false }
        taken += 1
        return true
    }
}

/// The endpoints of the demo API and how each behaves.
enum DemoEndpoint: CaseIterable, Sendable {
    /// Fast and reliable.
    case articles
    /// Reliable, but always slow.
    case search
    /// Fails now and then, like a service with a crashing instance.
    case cart
    /// Answers 429 to clients that ask too often.
    case rates
    /// Down for most of the demo, and healthy at the end.
    case payments

    /// Requests per second.
    var rate: Double {
        switch self {
        case .articles: 18
        case .search: 6
        case .cart: 7
        case .rates: 5
        case .payments: 6
        }
    }

    var character: String {
        switch self {
        case .articles: "healthy"
        case .search: "slow"
        case .cart: "flaky"
        case .rates: "rate-limited"
        case .payments: "broken"
        }
    }

    /// The host; nil where the chain's environment fills it in.
    var host: String? {
        switch self {
        case .articles, .search, .cart: nil
        case .rates: "rates.example"
        case .payments: "pay.example"
        }
    }

    func request(_ random: RandomSource) -> HTTPRequest {
        switch self {
        case .articles: return HTTPRequest(path: "articles/\(1 + random.next() % 500)")
        case .search:
            var request = HTTPRequest(path: "search")
            request.queryItems = [HTTPQueryItem("q", "loader \(random.next() % 50)")]
            return request
        case .cart:
            var request = HTTPRequest(method: .put, path: "cart")
            request.body = FormBody([("article", "\(random.next() % 500)"), ("count", "1")])
            return request
        case .rates: return HTTPRequest(scheme: "http", host: host, path: "/v1/rates")
        case .payments: return HTTPRequest(scheme: "http", host: host, path: "/v1/payments")
        }
    }
}

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
