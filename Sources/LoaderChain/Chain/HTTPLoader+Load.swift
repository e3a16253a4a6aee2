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
    /// - Throws: ``HTTPError/Code/invalidResponse`` for a status that does not say success, and
    ///   ``HTTPError/Code/cannotDecodeResponse`` for a body that is something else. Both carry the response.
    public final func load<Value: Decodable & Sendable>(
        _ request: HTTPRequest, as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) async throws(HTTPError) -> Value {
        var request = request
        if !request.headers.contains("Accept") { request.headers["Accept"] = "application/json" }
        let response = try await load(request)
        guard response.status.isSuccess else {
            throw HTTPError(
                .invalidResponse, request: response.request, response: response,
                reason: "The status does not say success, so the body was not decoded", loader: name)
        }
        do {
            return try decoder.decode(type, from: response.body)
        } catch {
            throw HTTPError(
                .cannotDecodeResponse, request: response.request, response: response, underlyingError: error,
                reason: "The body of \(response.body.count) bytes is no \(type)", loader: name)
        }
    }

    /// Sends a caller's task down the chain, by way of another that the caller does not hold.
    private final func start(_ task: HTTPTask) {
        let traveller = task.makeTraveller()
        if accepts(traveller) { load(task: traveller) }
    }
}

extension HTTPTask {
    /// Awaits the result, once `load` has been given the task that travels for this one.
    ///
    /// A cancelled Swift task cancels it.
    func result(_ load: (HTTPTask) -> Void) async -> HTTPResult {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                addCompletionHandler { continuation.resume(returning: $0) }
                load(makeTraveller())
            }
        } onCancel: {
            cancel()
        }
    }
}
