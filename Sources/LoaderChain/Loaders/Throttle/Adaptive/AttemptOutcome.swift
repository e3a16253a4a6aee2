/// What the end of an attempt says about how many the server can take at once.
///
/// | End | Outcome |
/// |---|---|
/// | 429, 503, 504, also beneath an error | pushed back |
/// | any other status from 200 to 499, but 408 and 425, also beneath an error | served |
/// | any other status: the server failed, which has nothing to do with how much it is asked | nothing |
/// | ``HTTPError/Code/timedOut`` and ``HTTPError/Code/connectionLost`` without a response | pushed back |
/// | a cancel, or a deadline that has passed, before any response, after however short a time | given up |
/// | any other error: a reset, an early refusal for a deadline, a refusal of a loader, no network, no such host, no trust | nothing |
package enum AttemptOutcome: Hashable, Sendable {
    /// The server has answered after its work.
    case served
    /// The server could not take it.
    case pushedBack
    /// The caller has left before the server had answered.
    case givenUp
    /// It says nothing.
    case nothing

    init(_ result: HTTPResult, of task: HTTPTask) {
        switch result {
        case .success(let response): self.init(response.status)
        case .failure(let error): self.init(error, of: task)
        }
    }

    private init(_ status: HTTPStatus) {
        switch status.rawValue {
        case 429, 503, 504: self = .pushedBack
        case 408, 425: self = .nothing
        case 200..<500: self = .served
        default: self = .nothing
        }
    }

    @inline(never)
    private init(_ error: HTTPError, of task: HTTPTask) {
        // The task was given up. If something had arrived by then, its time is not known any more.
        switch ResultMeaning(error.code) {
        case .stopped, .outOfTime: self = error.isGivenUp(task) ? .givenUp : .nothing
        case let meaning:
            if let response = error.response {
                self.init(response.status)
            } else {
                self = meaning == .lost ? .pushedBack : .nothing
            }
        }
    }
}
