/// Checks responses inside the chain, so that an unusable response counts as a failure for the other loaders.
///
/// Put it just above the terminal, and in any case below `Retry` and `CircuitBreaker`: a response that does not pass is
/// an error to all loaders that observe the task, above and below.
///
/// ```swift
/// let chain = retry --> Validate() --> terminal
///
/// var request = HTTPRequest(path: "people")
/// request.responseCheck = .success.and(.contentTypes("application/json"))
/// ```
///
/// By default it requires nothing, so that every status is a response. A check that you give it applies to all requests
/// without their own. Bodies that ``HTTPLoader/load(_:as:decoder:)`` decodes are decoded here, once.
///
/// A response that does not pass becomes an error that names this loader and has the response.
public final class Validate: HTTPLoader, @unchecked Sendable {
    /// The filter for requests without their own check; nil if nothing is required.
    private let judge: ResponseJudge?
    private let check: ResponseCheck

    /// Makes a loader with a check for requests without their own; by default it requires nothing.
    public init(_ check: ResponseCheck = .nothing) {
        self.check = check
        judge = check.rules.isEmpty ? nil : ResponseJudge(check)
    }

    /// Passes the task on, with a filter for its result if there is anything to check.
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

/// Turns a response that does not pass into an error.
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
