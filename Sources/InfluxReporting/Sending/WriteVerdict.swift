import LoaderChain
import LoaderChainPlatformFoundation

/// What the answer to a request says about its lines.
///
/// | answer | verdict |
/// |---|---|
/// | 204, or another 2xx that says nothing to the contrary | delivered |
/// | 2xx with a page or an error, or after a redirect to something that is not written to; 1xx, 3xx | unexpected, so later |
/// | 400, 406, 422 that speak of a partial write | the good lines are delivered |
/// | 400, 406, 422 with a page | unexpected, so later |
/// | 400, 406, 422 for what the request does not name | refused altogether |
/// | 400, 406, 422 otherwise | refused for some line |
/// | 413 | too large |
/// | 415 | compression is not understood, or refused |
/// | 408, 409, 421, 423, 425, 429, 5xx | busy, so later |
/// | 500 for a retention policy that is not there, 501, 505 | refused altogether |
/// | any other 4xx | refused altogether |
/// | no answer | offline, interrupted, busy for a loader that holds requests back, refused for one that cannot be sent or has no credentials, unexpected for one that is not taken |
package enum WriteVerdict: Sendable, Hashable {
    /// The server has all lines.
    case delivered
    /// The server has all lines but those that it complains of.
    case partlyDelivered(ServerComplaint)
    /// The server has no line, because of some that it may name.
    case rejected(ServerComplaint)
    /// The server has no line, because there are too many.
    case tooLarge(ServerComplaint)
    /// The server has no line, because it does not know how they are encoded.
    case unknownEncoding(ServerComplaint)
    /// The server has no line, and none of them is to blame.
    case obstructed(WriteObstacle)

    /// Reads the result of a request that was to write lines.
    ///
    /// - Parameter now: the date by which a date to wait for is a delay.
    package init(_ result: HTTPResult, now: Date) {
        switch result {
        case .success(let response): self.init(response, now: now)
        case .failure(let error): self.init(error, now: now)
        }
    }
}

// MARK: - By an answer

extension WriteVerdict {
    private init(_ response: HTTPResponse, now: Date) {
        let status = response.status
        let complaint = ServerComplaint(in: response)
        switch StatusMeaning(status) {
        case .accepted: self = Self.success(response, complaint)
        case .malformed where complaint.isPage:
            self = .obstructed(.unexpectedAnswer(status, reason: complaint.reason))
        case .malformed where complaint.isAboutTheRequest:
            self = .obstructed(.refused(status, reason: complaint.reason))
        case .malformed: self = complaint.isPartial ? .partlyDelivered(complaint) : .rejected(complaint)
        case .tooLarge: self = .tooLarge(complaint)
        case .unsupportedEncoding: self = .unknownEncoding(complaint)
        case .unavailable where complaint.message.hasPrefix("retention policy not found"):
            self = .obstructed(.refused(status, reason: complaint.reason))
        case .unavailable, .overloaded: self = .busy(response, complaint, now: now)
        case .unauthorized, .refused: self = .obstructed(.refused(status, reason: complaint.reason))
        case .unexpected:
            let reason = status.rawValue < 400 ? Self.elsewhere(response) : "no status of HTTP"
            self = .obstructed(.unexpectedAnswer(status, reason: reason))
        }
    }

    private static func success(_ response: HTTPResponse, _ complaint: ServerComplaint) -> Self {
        guard response.request.method == .post else {
            // A redirect turned the request into one without a body.
            let reason = "The request was redirected to \(response.request.loggableURL), where nothing was written"
            return .obstructed(.unexpectedAnswer(response.status, reason: reason))
        }
        if response.status == .noContent || response.body.isEmpty { return .delivered }
        if complaint.isPage || complaint.isError && !complaint.isPartial {
            return .obstructed(.unexpectedAnswer(response.status, reason: complaint.reason))
        }
        return complaint.isPartial || !complaint.accusations.isEmpty ? .partlyDelivered(complaint) : .delivered
    }

    private static func elsewhere(_ response: HTTPResponse) -> String {
        guard response.headers.contains("Location") else { return "The server asks for something else" }
        return "The server redirects the request, and the redirect was not followed"
    }

    private static func busy(_ response: HTTPResponse, _ complaint: ServerComplaint, now: Date) -> Self {
        let delay = RetryAfter.delay(of: response, now: now)
        let reason = "\(response.status), \(complaint.reason)"
        return .obstructed(.busy(after: delay > .zero ? delay : nil, reason: reason))
    }
}

// MARK: - Without one

extension WriteVerdict {
    private init(_ error: HTTPError, now: Date) {
        if ResultMeaning(error.code) == .stopped {
            self = .obstructed(.interrupted)
        } else if let response = error.response, !response.status.isSuccess {
            // A loader rejected the response, whose status says the same.
            self.init(response, now: now)
            switch self {
            case .partlyDelivered, .rejected:
                // Of one that is torn, what it says of lines is not all it had to say.
                if case .offline = Self.obstacle(error) { self = .obstructed(Self.obstacle(error)) }
            default: break  // The status says it all.
            }
        } else {
            self = .obstructed(Self.obstacle(error))
        }
    }

    private static func obstacle(_ error: HTTPError) -> WriteObstacle {
        let reason = error.description
        switch ResultMeaning(error.code) {
        // A server that goes down leaves answers that cannot be read.
        case .useless where error.code == .invalidResponse && error.response == nil: return .offline(reason: reason)
        case .useless, .notTaken: return .unexpectedAnswer(error.response?.status, reason: reason)
        case .unsendable, .unauthorized: return .refused(nil, reason: reason)
        case .heldBack: return .busy(after: nil, reason: reason)
        case .answered, .stopped, .outOfTime, .unreachable, .lost, .insecure, .unknown: return .offline(reason: reason)
        }
    }
}
