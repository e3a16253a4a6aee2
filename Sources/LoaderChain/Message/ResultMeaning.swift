/// What a result means to whoever decides what to do next: what became of the request, and whether anything was sent.
///
/// Retry, hedge, breaker, adaptive limit, metrics, event streams, writer and outbox go by this table of codes, as they go by
/// ``StatusMeaning`` for statuses.
///
/// | Result | Meaning |
/// |---|---|
/// | a response | answered |
/// | an error about a response whose status is no success, unless it means stopped, out of time, unreachable or lost | answered |
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
    /// The request cannot be sent as it is.
    case unsendable
    /// No secure connection was made, so nothing was sent.
    case insecure
    /// There are no credentials that can be used now.
    case unauthorized
    /// What arrived is of no use.
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
