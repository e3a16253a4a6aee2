import LoaderChain

/// The verdict on a report for each result of an attempt.
///
/// | Result | Verdict |
/// |---|---|
/// | 2xx | delivered |
/// | 3xx, typical of captive portals | retry |
/// | 401 and 407, since the chain may get new credentials | retry |
/// | 408, 409, 421, 423, 425, 429 | retry |
/// | 413 with `Retry-After` | retry |
/// | any other 4xx, 501 and 505 | dead letter |
/// | any other 5xx | retry |
/// | an error with a response, unless it was cancelled or reset | the verdict for its status, or retry for a success |
/// | `HTTPError.Code.cannotConnect` | wait for a connection |
/// | `HTTPError.Code.circuitOpen`, `queueFull`, `queueTimedOut`, `rateLimited` and `shed`, if a loader of the chain sent nothing | wait for a connection |
/// | `HTTPError.Code.cancelled`, `HTTPError.Code.resetInProgress` | interrupted |
/// | `HTTPError.Code.invalidRequest` | dead letter |
/// | any other error | retry |
///
/// After several identical rejections in a row, the server is paused instead: see ``OutboxSettings/refusalsBeforePause``.
/// Any row can be overridden:
///
/// ```swift
/// var settings = OutboxSettings()
/// settings.outcomes[.notFound] = .retry
/// settings.outcomes[.insecureConnection] = .waitForConnection
/// ```
public struct OutcomeTable: Hashable, Sendable {
    private var statuses: [HTTPStatus: ReportVerdict] = [:]
    private var codes: [HTTPError.Code: ReportVerdict] = [:]

    /// Creates the table above.
    public init() {}

    /// The verdict for a status.
    public subscript(status: HTTPStatus) -> ReportVerdict {
        get { statuses[status] ?? Self.standard(status) }
        set { statuses[status] = newValue }
    }

    /// The verdict for an error without a response.
    public subscript(code: HTTPError.Code) -> ReportVerdict {
        get { codes[code] ?? Self.standard(code) }
        set { codes[code] = newValue }
    }

    func verdict(on result: HTTPResult) -> ReportVerdict {
        switch result {
        case .success(let response): verdict(on: response)
        case .failure(let error):
            // If a loader of the chain rejected a response, its status still is the server's answer, unless it was a success.
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
        // With `Retry-After`, the server says that it may accept the report later.
        if response.status == .contentTooLarge, statuses[.contentTooLarge] == nil,
            response.headers.contains("Retry-After")
        {
            return .retry
        }
        return self[response.status]
    }

    private static func standard(_ status: HTTPStatus) -> ReportVerdict {
        let meaning = StatusMeaning(status)
        return meaning == .accepted ? .delivered : meaning.isWorthRepeating ? .retry : .deadLetter
    }

    private static func standard(_ code: HTTPError.Code) -> ReportVerdict {
        switch ResultMeaning(code) {
        case .unreachable, .heldBack: .waitForConnection
        case .stopped: .interrupted
        case .unsendable: .deadLetter
        case .answered, .outOfTime, .lost, .insecure, .unauthorized, .useless, .notTaken, .unknown: .retry
        }
    }
}

/// What happens to a report after an attempt.
public enum ReportVerdict: Hashable, Sendable {
    /// The server has accepted the report.
    case delivered
    /// The report is retried after a delay, within the limits of the settings.
    case retry
    /// The server was not reached, or nothing was sent. The attempt does not count, and the server is paused for a delay.
    case waitForConnection
    /// The attempt was stopped, for a reason unrelated to the report. It does not count.
    case interrupted
    /// Permanently rejected; the report is kept for inspection.
    case deadLetter
    /// Permanently rejected; the report is deleted.
    case drop
}
