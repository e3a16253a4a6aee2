/// The result of a task: a response, whatever its status, or an error.
public typealias HTTPResult = Result<HTTPResponse, HTTPError>

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// The request as it was when the task ended.
    public var request: HTTPRequest {
        switch self {
        case .success(let response): response.request
        case .failure(let error): error.request
        }
    }

    /// The response, also one that a loader refused.
    public var response: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    /// The error, if there is one.
    public var error: HTTPError? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }

    /// How many attempts it took; 1 unless a loader such as ``Retry`` tried again.
    public var attempts: Int {
        switch self {
        case .success(let response): response.attempts
        case .failure(let error): error.attempts
        }
    }

    /// The same result with another number of attempts.
    func numbered(_ attempts: Int) -> HTTPResult {
        if attempts == self.attempts { return self }
        switch self {
        case .success(var response):
            response.attempts = attempts
            return .success(response)
        case .failure(var error):
            error.attempts = attempts
            return .failure(error)
        }
    }
}
