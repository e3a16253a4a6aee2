import LoaderChainPlatformFoundation

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
/// Its check applies to all requests without their own. By default it requires a success status; with
/// ``ResponseCheck/nothing``, every status is a response. Bodies that ``HTTPLoader/load(_:as:decoder:)`` decodes are decoded
/// here, once.
///
/// A response that does not pass becomes an error that names this loader and has the response.
public final class Validate: HTTPLoader, @unchecked Sendable {
    /// The filter for requests without their own check; nil if nothing is required.
    private let judge: ResponseJudge?
    private let check: ResponseCheck

    /// Makes a loader with a check for requests without their own; by default it requires a success status.
    public init(_ check: ResponseCheck = .success) {
        self.check = check
        judge = check.rules.isEmpty ? nil : ResponseJudge(check)
    }

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

extension HTTPLoader {
    /// Loads a request and decodes the body of its response.
    ///
    /// ```swift
    /// let user: User = try await chain.load(.get("users/7"))
    /// ```
    ///
    /// The chain's ``Validate`` decodes the body, so that a body that cannot be decoded counts as a failure there;
    /// without one, the body is decoded at the end. A request without a ``HTTPRequest/responseCheck`` requires a
    /// success status. Without a decoder, a `JSONDecoder` with default settings is used.
    ///
    /// - Throws: ``HTTPError/Code/invalidResponse`` for any other status, and ``HTTPError/Code/cannotDecodeResponse``
    ///   for a body that cannot be decoded. Both have the response.
    public final func load<Value: Decodable & Sendable>(
        _ request: HTTPRequest, as type: Value.Type = Value.self, decoder: JSONDecoder? = nil
    ) async throws(HTTPError) -> Value {
        let decoding = BodyDecoding<Value>(decoder: decoder, keepsValue: true)
        let decodingCheck = ResponseCheck(rules: [.decoding(decoding)])
        var decoded = request
        decoded.decodingCheck = request.responseCheck == nil ? .success.and(decodingCheck) : decodingCheck
        if !decoded.headers.contains("Accept") { decoded.headers["Accept"] = "application/json" }
        do throws(HTTPError) {
            let response = try await load(decoded)
            if let value = decoding.takeValue(for: response) { return value }
            // No loader below has checked the response, or it was replaced since.
            if let error = (request.responseCheck ?? .success).verdict(on: response, by: name) { throw error }
            return try decoding.decode(response, for: name)
        } catch {
            throw error.withoutDecodingCheck
        }
    }

    /// Loads a request with options that a closure sets, and decodes the body of its response.
    ///
    /// ```swift
    /// let user: User = try await chain.load(.get("me")) { $0.timeout = .seconds(5) }
    /// ```
    ///
    /// The closure is called at once, where the caller is. For the rest, see ``load(_:as:decoder:)``.
    public nonisolated(nonsending) final func load<Value: Decodable & Sendable>(
        _ request: HTTPRequest, as type: Value.Type = Value.self, decoder: JSONDecoder? = nil,
        configure: (inout HTTPRequest) -> Void
    ) async throws(HTTPError) -> Value {
        try await load(request.with(configure), as: type, decoder: decoder)
    }
}

extension HTTPError {
    /// The error without the check that decoding added to the caller's request.
    fileprivate var withoutDecodingCheck: HTTPError {
        var error = self
        error.request.decodingCheck = nil
        error.response?.request.decodingCheck = nil
        return error
    }
}
