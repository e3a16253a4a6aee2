import LoaderChain

/// The endpoints of the demo API and how each behaves.
enum DemoEndpoint: Int, CaseIterable, Sendable {
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
