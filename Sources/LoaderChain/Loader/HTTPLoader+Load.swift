#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HTTPLoader {
    /// Loads a request, and calls `completion` once with the result, on whatever thread it arrives.
    ///
    /// - Returns: a task to cancel it with. It can be kept or dropped.
    @preconcurrency
    @discardableResult
    public final func load(
        request: HTTPRequest, completion: @escaping @Sendable (HTTPResult) -> Void
    ) -> HTTPTask {
        let task = HTTPTask(request: request, completion: completion)
        start(task)
        return task
    }

    /// Loads a request.
    ///
    /// Cancelling the Swift task that waits here cancels the loading. It still returns only when whoever has the request
    /// has stopped.
    ///
    /// - Returns: the response, whatever its status.
    public final func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await HTTPTask(request: request).result { if accepts($0) { load(task: $0) } }.get()
    }

    /// Loads a request and decodes the body of its response.
    ///
    /// ```swift
    /// let user = try await chain.load(HTTPRequest(url: url), as: User.self)
    /// ```
    ///
    /// The body is decoded by the chain's ``Validate``, where one that cannot be decoded counts as a failure; without one,
    /// at the end. A request that brings no ``HTTPRequest/responseCheck`` demands a status that says success. Without a
    /// decoder, a `JSONDecoder` with its usual settings decodes.
    ///
    /// - Throws: ``HTTPError/Code/invalidResponse`` for a status that does not say success, and
    ///   ``HTTPError/Code/cannotDecodeResponse`` for a body that is something else. Both carry the response.
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
            // Nobody below has checked it, or what they checked has been replaced since.
            if let error = (request.responseCheck ?? .success).verdict(on: response, by: name) { throw error }
            return try decoding.decode(response, for: name)
        } catch {
            throw error.withoutDecodingCheck
        }
    }

    /// Sends a caller's task down the chain, by way of another that the caller does not hold.
    private final func start(_ task: HTTPTask) {
        HandlerCalls.enter {
            let traveller = task.makeTraveller()
            if accepts(traveller) { load(task: traveller) }
        }
    }
}

extension HTTPError {
    /// The error for the caller, whose request never said what it would be decoded as.
    fileprivate var withoutDecodingCheck: HTTPError {
        var error = self
        error.request.decodingCheck = nil
        error.response?.request.decodingCheck = nil
        return error
    }
}

extension HTTPTask {
    /// Awaits the result, once `load` has been given the task that travels for this one.
    ///
    /// A cancelled Swift task cancels it.
    func result(_ load: (HTTPTask) -> Void) async -> HTTPResult {
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                addCompletionHandler { continuation.resume(returning: $0) }
                load(makeTraveller())
            }
        } onCancel: {
            cancel()
        }
        // A thread sanitizer does not see how the runtime hands a result over that comes before the wait has begun. This look
        // at what the completion has written is something that it does see.
        _ = isCompleted
        return result
    }
}
