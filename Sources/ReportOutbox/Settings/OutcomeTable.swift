import LoaderChain

/// What each result of an attempt means for a report.
///
/// | Result | Verdict |
/// |---|---|
/// | 2xx | delivered |
/// | 3xx, which a network's login page likes to answer | retry |
/// | 401 and 407, which the chain's credentials may overcome | retry |
/// | 408, 409, 421, 423, 425, 429 | retry |
/// | 413 with `Retry-After` | retry |
/// | any other 4xx, 501 and 505 | set aside |
/// | any other 5xx | retry |
/// | an error with a response, unless it was cancelled or reset | as its status; a success is tried again |
/// | `HTTPError.Code.cannotConnect` | wait for a connection |
/// | `HTTPError.Code.circuitOpen`, `queueFull`, `queueTimedOut`, `rateLimited` and `shed`, with which a loader of the chain sends nothing | wait for a connection |
/// | `HTTPError.Code.cancelled`, `HTTPError.Code.resetInProgress` | interrupted |
/// | `HTTPError.Code.invalidRequest` | set aside |
/// | any other error | retry |
///
/// After a few equal refusals in a row, a server is paused instead: see ``OutboxSettings/refusalsBeforePause``.
///
/// Any line can be overridden:
///
/// ```swift
/// var settings = OutboxSettings()
/// settings.outcomes[.notFound] = .retry
/// settings.outcomes[.insecureConnection] = .waitForConnection
/// ```
public struct OutcomeTable: Hashable, Sendable {
    private var statuses: [HTTPStatus: ReportVerdict] = [:]
    private var codes: [HTTPError.Code: ReportVerdict] = [:]

    /// The table above.
    public init() {}

    /// What a status means.
    public subscript(status: HTTPStatus) -> ReportVerdict {
        get { statuses[status] ?? Self.standard(status) }
        set { statuses[status] = newValue }
    }

    /// What an error without a response means.
    public subscript(code: HTTPError.Code) -> ReportVerdict {
        get { codes[code] ?? Self.standard(code) }
        set { codes[code] = newValue }
    }

    /// What a result means.
    public func verdict(on result: HTTPResult) -> ReportVerdict {
        switch result {
        case .success(let response): verdict(on: response)
        case .failure(let error):
            // A response that a loader of the chain rejected is still the server's answer, unless it was a success.
            if ResultMeaning(error.code) == .stopped {
                self[error.code]
            } else if let status = error.response?.status {
                self[status] == .delivered ? .retry : self[status]
            } else {
                self[error.code]
            }
        }
    }

    private func verdict(on response: HTTPResponse) -> ReportVerdict {
        // What is too large for now, by the server's own words, may be taken later.
        if response.status == .contentTooLarge, statuses[.contentTooLarge] == nil,
            response.headers.contains("Retry-After")
        {
            return .retry
        }
        return self[response.status]
    }

    private static func standard(_ status: HTTPStatus) -> ReportVerdict {
        let meaning = StatusMeaning(status)
        return meaning == .accepted ? .delivered : meaning.isWorthRepeating ? .retry : .setAside
    }

    private static func standard(_ code: HTTPError.Code) -> ReportVerdict {
        switch ResultMeaning(code) {
        case .unreachable, .heldBack: .waitForConnection
        case .stopped: .interrupted
        case .unsendable: .setAside
        case .answered, .outOfTime, .lost, .insecure, .unauthorized, .useless, .notTaken, .unknown: .retry
        }
    }
}

/// What the result of an attempt means for a report.
public enum ReportVerdict: Hashable, Sendable {
    /// The server has it.
    case delivered
    /// It is tried again after a while, as often and as long as the settings allow.
    case retry
    /// The server was not reached, or nothing was sent. The attempt does not count, and nothing else is tried there for a while.
    case waitForConnection
    /// The attempt was stopped, which says nothing about the report. It does not count.
    case interrupted
    /// It will never be taken; it is kept for inspection.
    case setAside
    /// It will never be taken; it goes.
    case drop
}
