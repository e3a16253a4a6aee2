import LoaderChain
import LoaderChainPlatformFoundation

/// The meaning of a response, or of its absence, for the lines of a request.
///
/// | response | verdict |
/// |---|---|
/// | 204, or another 2xx that reports no error | delivered |
/// | 2xx with an HTML page or an error, or after a redirect that turned the write into a read; 1xx, 3xx | unexpected, sent again later |
/// | 400, 406, 422 that report a partial write | the good lines are delivered |
/// | 400, 406, 422 with an HTML page | unexpected, sent again later |
/// | 400, 406, 422 about a missing parameter of the request | refused altogether |
/// | 400, 406, 422 otherwise | refused because of some line |
/// | 413 | too large |
/// | 415 | compression is not supported, or refused altogether |
/// | 408, 409, 421, 423, 425, 429, 5xx | busy, sent again later |
/// | 500 for a missing retention policy, 501, 505 | refused altogether |
/// | any other 4xx | refused altogether |
/// | no response | offline; interrupted; busy if a loader holds requests back; refused if the request cannot be sent or has no credentials; unexpected if the response is not accepted |
package enum WriteVerdict: Sendable, Hashable {
    /// The server stored all lines.
    case delivered
    /// The server stored all lines except those that it complains about.
    case partlyDelivered(ServerComplaint)
    /// The server stored nothing because of some lines, which it may name.
    case rejected(ServerComplaint)
    /// The server stored nothing because the request is too large.
    case tooLarge(ServerComplaint)
    /// The server stored nothing because it does not support the encoding of the body.
    case unknownEncoding(ServerComplaint)
    /// The server stored nothing, for a reason other than the lines.
    case failed(DeliveryFailure)

    /// Interprets the result of a request that writes lines; `now` is the current date, for a `Retry-After` with a date.
    package init(_ result: HTTPResult, now: Date) {
        switch result {
        case .success(let response): self.init(response, now: now)
        case .failure(let error): self.init(error, now: now)
        }
    }
}

// MARK: - With a response

extension WriteVerdict {
    private init(_ response: HTTPResponse, now: Date) {
        let status = response.status
        let complaint = ServerComplaint(in: response)
        switch StatusMeaning(status) {
        case .accepted: self = Self.success(response, complaint)
        case .malformed where complaint.isPage:
            self = .failed(.unexpectedAnswer(status, reason: complaint.reason))
        case .malformed where complaint.isAboutTheRequest:
            self = .failed(.refused(status, reason: complaint.reason))
        case .malformed: self = complaint.isPartial ? .partlyDelivered(complaint) : .rejected(complaint)
        case .tooLarge: self = .tooLarge(complaint)
        case .unsupportedEncoding: self = .unknownEncoding(complaint)
        case .unavailable where complaint.message.hasPrefix("retention policy not found"):
            self = .failed(.refused(status, reason: complaint.reason))
        case .unavailable, .overloaded: self = .busy(response, complaint, now: now)
        case .unauthorized, .refused: self = .failed(.refused(status, reason: complaint.reason))
        case .unexpected:
            let reason = status.rawValue < 400 ? Self.elsewhere(response) : "not a valid HTTP status"
            self = .failed(.unexpectedAnswer(status, reason: reason))
        }
    }

    private static func success(_ response: HTTPResponse, _ complaint: ServerComplaint) -> Self {
        guard response.request.method == .post else {
            // A redirect turned the request into one without a body.
            let reason = "The request was redirected to \(response.request.loggableURL), where nothing was written"
            return .failed(.unexpectedAnswer(response.status, reason: reason))
        }
        if response.status == .noContent || response.body.isEmpty { return .delivered }
        if complaint.isPage || complaint.isError && !complaint.isPartial {
            return .failed(.unexpectedAnswer(response.status, reason: complaint.reason))
        }
        return complaint.isPartial || !complaint.accusations.isEmpty ? .partlyDelivered(complaint) : .delivered
    }

    private static func elsewhere(_ response: HTTPResponse) -> String {
        guard response.headers.contains("Location") else { return "The server did not store the lines" }
        return "The server redirects the request, and the redirect was not followed"
    }

    private static func busy(_ response: HTTPResponse, _ complaint: ServerComplaint, now: Date) -> Self {
        let delay = RetryAfter.delay(of: response, now: now)
        let reason = "\(response.status), \(complaint.reason)"
        return .failed(.busy(after: delay > .zero ? delay : nil, reason: reason))
    }
}

// MARK: - Without a response

extension WriteVerdict {
    private init(_ error: HTTPError, now: Date) {
        if ResultMeaning(error.code) == .stopped {
            self = .failed(.interrupted)
        } else if let response = error.response, !response.status.isSuccess {
            // A loader rejected the response, so its status determines the verdict.
            self.init(response, now: now)
            switch self {
            case .partlyDelivered, .rejected:
                // If the body is incomplete, it may not name all of the bad lines.
                if case .offline = Self.failure(error) { self = .failed(Self.failure(error)) }
            // The body does not matter.
            case .delivered, .tooLarge, .unknownEncoding, .failed: break
            }
        } else {
            self = .failed(Self.failure(error))
        }
    }

    private static func failure(_ error: HTTPError) -> DeliveryFailure {
        let reason = error.description
        switch ResultMeaning(error.code) {
        // A server that shuts down can leave responses that cannot be parsed.
        case .useless where error.code == .invalidResponse && error.response == nil: return .offline(reason: reason)
        case .useless, .notTaken: return .unexpectedAnswer(error.response?.status, reason: reason)
        case .unsendable, .unauthorized: return .refused(nil, reason: reason)
        case .heldBack: return .busy(after: nil, reason: reason)
        case .answered, .stopped, .outOfTime, .unreachable, .lost, .insecure, .unknown: return .offline(reason: reason)
        }
    }
}
