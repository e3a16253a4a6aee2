/// Checks responses inside the chain, so that one that the client cannot use counts as a failure wherever failures count.
///
/// Put it just above the terminal, and in any case below `Retry` and `CircuitBreaker`: to the loaders above it, and to
/// those below that have asked to hear of the end, a response that does not pass is an error.
///
/// ```swift
/// let chain = retry --> Validate() --> terminal
///
/// var request = HTTPRequest(path: "people")
/// request.responseCheck = .success.and(.contentTypes("application/json"))
/// ```
///
/// By itself it demands nothing, so that every status is a response. A check given to it is demanded of all requests that
/// bring none of their own. What ``HTTPLoader/load(_:as:decoder:)`` is to decode is decoded here, once.
///
/// A response that does not pass becomes an error that names this loader and carries the response.
public final class Validate: HTTPLoader, @unchecked Sendable {
    /// What all are told that bring no check of their own; nil where nothing is demanded.
    private let judge: ResponseJudge?
    private let check: ResponseCheck

    /// Makes a loader that demands `check` of requests that bring no check of their own; by default nothing.
    public init(_ check: ResponseCheck = .nothing) {
        self.check = check
        judge = check.rules.isEmpty ? nil : ResponseJudge(check)
    }

    /// Passes the task on, and has a look at its result if there is anything to check.
    public override func load(task: HTTPTask) {
        let request = task.request
        let own = request.responseCheck
        let decoding = request.decodingCheck
        if own != nil || decoding != nil {
            task.addResultFilter(ResponseJudge((own ?? check).and(decoding ?? .nothing)))
        } else if let judge {
            task.addResultFilter(judge)
        }
        super.load(task: task)
    }
}

/// Makes an error of a response that does not pass.
private final class ResponseJudge: HTTPResultFilter {
    private let check: ResponseCheck

    init(_ check: ResponseCheck) { self.check = check }

    func result(_ result: HTTPResult, of task: HTTPTask) -> HTTPResult {
        guard case .success(let response) = result,
            let error = check.verdict(on: response, by: "\(Validate.self)")
        else { return result }
        return .failure(error)
    }
}
