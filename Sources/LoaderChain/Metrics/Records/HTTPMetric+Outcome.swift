extension HTTPMetric {
    /// How a request ended.
    public enum Outcome: Hashable, Sendable {
        /// A response with this status arrived, whatever the status.
        ///
        /// A response that was refused for a status other than success is one of these too.
        case response(HTTPStatus)
        /// The transport delivered no response, or only a part of one.
        case failed(HTTPError.Code)
        /// The task was cancelled.
        case cancelled
        /// A reset ended it.
        case reset
        /// The client could not parse the response.
        case unparsable
        /// A loader refused the request, or a response with a success status; the code says why, the name which loader.
        case rejected(HTTPError.Code, by: String?)
    }
}

extension HTTPMetric.Outcome.Kind {
    init(_ status: HTTPStatus) {
        switch status.rawValue {
        case 100..<300: self = .success
        case 300..<400: self = .redirection
        case 400..<500: self = .clientError
        default: self = .serverError
        }
    }

    /// The kind of a task's result.
    init(_ result: HTTPResult) {
        switch result {
        case .success(let response): self.init(response.status)
        case .failure: self = HTTPMetric.Outcome(result).kind
        }
    }
}

extension HTTPMetric.Outcome {
    /// The outcome of a task's result.
    ///
    /// A code that is neither one of the transport's nor one with a case of its own was made by a loader that refused
    /// the task.
    public init(_ result: HTTPResult) {
        switch result {
        case .success(let response): self = .response(response.status)
        case .failure(let error): self.init(error)
        }
    }

    // Out of line, because most results are no errors.
    @inline(never)
    private init(_ error: HTTPError) {
        switch ResultMeaning(error.code) {
        case .stopped: self = error.code == .cancelled ? .cancelled : .reset
        case .outOfTime, .unreachable, .lost, .insecure, .notTaken: self = .failed(error.code)
        case .unknown where error.code == .unknown: self = .failed(error.code)
        case .useless where error.code == .cannotDecodeResponse: self = .unparsable
        case .useless:
            // The status explains more than the fact that a loader refused it.
            if let status = error.response?.status, !status.isSuccess {
                self = .response(status)
            } else {
                self = .rejected(error.code, by: error.loader)
            }
        case .answered, .heldBack, .unsendable, .unauthorized, .unknown:
            self = .rejected(error.code, by: error.loader)
        }
    }

    /// A kind of outcome, for counts.
    public enum Kind: Int, Hashable, Sendable, CaseIterable {
        /// A response with a success status, or an informational one.
        case success
        /// A response that redirects, or says that nothing has changed.
        case redirection
        /// A response that blames the request.
        case clientError
        /// A response that blames the server, or a number that is no status.
        case serverError
        /// No response.
        case failed
        /// Cancelled.
        case cancelled
        /// Ended by a reset.
        case reset
        /// A response that could not be parsed.
        case unparsable
        /// Refused by a loader.
        case rejected

        /// Whether it counts as an error; a cancel and a reset count neither way.
        public var isError: Bool {
            switch self {
            case .clientError, .serverError, .failed, .unparsable, .rejected: true
            case .success, .redirection, .cancelled, .reset: false
            }
        }
    }

    /// The kind of this outcome.
    public var kind: Kind {
        switch self {
        case .response(let status): Kind(status)
        case .failed: .failed
        case .cancelled: .cancelled
        case .reset: .reset
        case .unparsable: .unparsable
        case .rejected: .rejected
        }
    }

    /// What went wrong, in one word: the status or the error's code; nil if nothing did.
    public var errorType: String? {
        switch self {
        case .response(let status): kind.isError ? "\(status.rawValue)" : nil
        case .failed(let code), .rejected(let code, by: _): code.rawValue
        case .cancelled: HTTPError.Code.cancelled.rawValue
        case .reset: HTTPError.Code.resetInProgress.rawValue
        case .unparsable: HTTPError.Code.cannotDecodeResponse.rawValue
        }
    }
}
