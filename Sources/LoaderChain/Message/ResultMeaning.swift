/// What a result means to whoever decides what to do next: what became of the request, and whether anything was sent.
///
/// Retry, hedge, breaker, adaptive limit, metrics, event streams, writer and outbox go by this table of codes. Of statuses, what
/// delivers goes by ``StatusMeaning``: writer, outbox, uploads and polling. What repeats while a caller waits, retry, hedge, throttle
/// and downloads, goes by `isTransient` below it. Hedge and rate limit pause by `asksToWait`. Two ask the status another question, each
/// in its own file: `AttemptOutcome` whether the time of an attempt tells how loaded a server is, and `CircuitBreaker` whether a server
/// is unwell.
///
/// | Result | Meaning |
/// |---|---|
/// | a response | answered |
/// | an error about a response whose status is not a success, unless it means stopped, out of time, unreachable or lost | answered |
/// | `cancelled`, `resetInProgress` | stopped |
/// | `deadlineExceeded` | out of time |
/// | `cannotConnect` | unreachable |
/// | `connectionLost`, `timedOut` | lost |
/// | `circuitOpen`, `queueFull`, `queueTimedOut`, `rateLimited`, `shed` | held back |
/// | `invalidRequest` | unsendable |
/// | `insecureConnection` | insecure |
/// | `authenticationRequired`, `authenticationFailed` | unauthorized |
/// | `invalidResponse`, `cannotDecodeResponse` | useless |
/// | `responseTooLarge`, `cannotStoreResponse`, `tooManyRedirects` | not taken |
/// | any other code | unknown |
package enum ResultMeaning: Hashable, Sendable {
    /// The server has answered with this status, for which a loader may have refused the response.
    case answered(HTTPStatus)
    /// The caller or a reset has ended it.
    case stopped
    /// Its deadline has come, perhaps before anything was sent.
    case outOfTime
    /// No connection was made, so nothing was sent.
    case unreachable
    /// No whole answer came, and the server may have done the work.
    case lost
    /// A loader holds requests back for now, so nothing was sent.
    case heldBack
    case unsendable
    /// No secure connection was made, so nothing was sent.
    case insecure
    /// There are no credentials that can be used now.
    case unauthorized
    case useless
    /// What arrived may be good, but this side could not or would not take it.
    case notTaken
    /// A loader of the program has a code of its own, a loader let go of the task, or the reason is not known.
    case unknown

    package init(_ result: HTTPResult) {
        switch result {
        case .success(let response): self = .answered(response.status)
        case .failure(let error): self.init(error)
        }
    }

    @inline(never)
    package init(_ error: HTTPError) {
        self.init(error.code)
        switch self {
        case .heldBack, .unsendable, .insecure, .unauthorized, .useless, .notTaken, .unknown:
            if let status = error.response?.status, !status.isSuccess { self = .answered(status) }
        case .answered, .stopped, .outOfTime, .unreachable, .lost: break
        }
    }

    /// What an error of this code means if there is no response.
    package init(_ code: HTTPError.Code) {
        switch code {
        case .cancelled, .resetInProgress: self = .stopped
        case .deadlineExceeded: self = .outOfTime
        case .cannotConnect: self = .unreachable
        case .connectionLost, .timedOut: self = .lost
        case .circuitOpen, .queueFull, .queueTimedOut, .rateLimited, .shed: self = .heldBack
        case .invalidRequest: self = .unsendable
        case .insecureConnection: self = .insecure
        case .authenticationRequired, .authenticationFailed: self = .unauthorized
        case .invalidResponse, .cannotDecodeResponse: self = .useless
        case .responseTooLarge, .cannotStoreResponse, .tooManyRedirects: self = .notTaken
        default: self = .unknown
        }
    }
}

/// What the status of a response means for the request that it answers, to a client whose data must arrive.
///
/// This is the only table of statuses for everything that delivers. A sender decides what to do in each of these few
/// cases, and adds what is special about its server, such as a complaint about one line in a body.
///
/// | Status | Meaning |
/// |---|---|
/// | 2xx | accepted |
/// | 1xx, 3xx, and numbers outside 100…599 | unexpected |
/// | 401 Unauthorized, 407 Proxy Authentication Required | unauthorized |
/// | 408 Request Timeout, 409 Conflict, 421 Misdirected Request, 423 Locked, 425 Too Early | unavailable |
/// | 429 Too Many Requests | overloaded |
/// | 413 Content Too Large | tooLarge |
/// | 415 Unsupported Media Type | unsupportedEncoding |
/// | 400 Bad Request, 406 Not Acceptable, 422 Unprocessable Content | malformed |
/// | any other 4xx, 501 Not Implemented, 505 HTTP Version Not Supported | refused |
/// | any other 5xx | unavailable |
package enum StatusMeaning: Hashable, Sendable, CaseIterable {
    case accepted
    /// The server neither took the request nor refused it, as a redirect that was not followed, or a login page's.
    case unexpected
    /// The server wants other credentials; the same content may be accepted with them.
    case unauthorized
    /// The server cannot take the request now; send it again later.
    case unavailable
    /// The server wants fewer requests; send it again later, and slow down.
    case overloaded
    /// The content is larger than the server takes; send it in smaller pieces.
    case tooLarge
    /// The server does not read the content's type or coding; send it in another one.
    case unsupportedEncoding
    /// The server understands the request and finds its content wrong.
    case malformed
    /// The server will never take the request, whatever its content.
    case refused

    package init(_ status: HTTPStatus) {
        switch status.rawValue {
        case 200..<300: self = .accepted
        case 401, 407: self = .unauthorized
        case 408, 409, 421, 423, 425: self = .unavailable
        case 429: self = .overloaded
        case 413: self = .tooLarge
        case 415: self = .unsupportedEncoding
        case 400, 406, 422: self = .malformed
        case 400..<500, 501, 505: self = .refused
        case 500..<600: self = .unavailable
        default: self = .unexpected
        }
    }

    /// Whether the same request may be accepted later, without a change of its content.
    package var isWorthRepeating: Bool {
        switch self {
        case .unexpected, .unauthorized, .unavailable, .overloaded: true
        case .accepted, .tooLarge, .unsupportedEncoding, .malformed, .refused: false
        }
    }
}

extension HTTPStatus {
    /// Whether the server may well answer otherwise within seconds, so that a request is worth trying again while its caller waits.
    ///
    /// There are fewer of these than of statuses that are worth repeating: a request that needs other credentials,
    /// another connection or the end of a lock does not succeed a moment later.
    var isTransient: Bool {
        switch rawValue {
        case 408, 429, 500, 502, 503, 504: true
        default: false
        }
    }

    /// Whether the server wants fewer requests, for as long as a `Retry-After` of its response says.
    var asksToWait: Bool { self == .tooManyRequests || self == .serviceUnavailable }
}
