import LoaderChain

/// The result of a check.
enum WatchVerdict: Hashable, Sendable {
    /// The endpoint answered with an expected status.
    case healthy(HTTPStatus)
    /// The endpoint answered with another status.
    case unexpected(HTTPStatus)
    /// The endpoint did not answer; the reason in a few words.
    case silent(String)
    /// The check was cancelled before it ended.
    case none

    init(_ result: HTTPResult, expected: StatusSet) {
        switch result {
        case .success(let response):
            self = expected.contains(response.status) ? .healthy(response.status) : .unexpected(response.status)
        case .failure(let error) where ResultMeaning(error.code) == .stopped: self = .none
        case .failure(let error): self = .silent(Self.words(error.code))
        }
    }

    var isHealthy: Bool {
        if case .healthy = self { true } else { false }
    }

    /// The status, or the reason why there is none.
    var text: String {
        switch self {
        case .healthy(let status), .unexpected(let status): "\(status.rawValue)"
        case .silent(let words): words
        case .none: "–"
        }
    }

    private static func words(_ code: HTTPError.Code) -> String {
        switch code {
        case .cannotConnect: "cannot connect"
        case .connectionLost: "connection lost"
        case .timedOut, .deadlineExceeded: "timed out"
        case .insecureConnection: "no secure connection"
        case .invalidResponse: "no HTTP response"
        case .responseTooLarge: "response too large"
        case .tooManyRedirects: "too many redirects"
        default: code.rawValue
        }
    }
}
