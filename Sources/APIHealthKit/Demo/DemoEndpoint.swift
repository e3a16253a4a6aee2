import LoaderChain

/// What the demo API offers, and what each part of it is like.
enum DemoEndpoint: Int, CaseIterable, Sendable {
    /// Quick and reliable.
    case articles
    /// Correct, and never quick.
    case search
    /// Fails now and then, as if a process behind it came and went.
    case cart
    /// Answers 429 to whoever asks too often.
    case rates
    /// Down for most of the time, and then up again.
    case payments

    /// How many requests a second are made to it.
    var rate: Double {
        switch self {
        case .articles: 18
        case .search: 6
        case .cart: 7
        case .rates: 5
        case .payments: 6
        }
    }

    /// What it is like, in a word.
    var character: String {
        switch self {
        case .articles: "healthy"
        case .search: "slow"
        case .cart: "flaky"
        case .rates: "rate-limited"
        case .payments: "broken"
        }
    }

    /// Whose host it has; nil for the one that the chain's environment fills in.
    var host: String? {
        switch self {
        case .articles, .search, .cart: nil
        case .rates: "rates.example"
        case .payments: "pay.example"
        }
    }

    /// A request to it.
    func request(_ dice: Dice) -> HTTPRequest {
        switch self {
        case .articles: return HTTPRequest(path: "articles/\(1 + dice.next() % 500)")
        case .search:
            var request = HTTPRequest(path: "search")
            request.queryItems = [HTTPQueryItem("q", "loader \(dice.next() % 50)")]
            return request
        case .cart:
            var request = HTTPRequest(method: .put, path: "cart")
            request.body = FormBody([("article", "\(dice.next() % 500)"), ("count", "1")])
            return request
        case .rates: return HTTPRequest(scheme: "http", host: host, path: "/v1/rates")
        case .payments: return HTTPRequest(scheme: "http", host: host, path: "/v1/payments")
        }
    }
}
