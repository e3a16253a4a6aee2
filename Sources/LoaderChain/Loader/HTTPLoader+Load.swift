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

    /// Sends a caller's task down the chain, by way of another that the caller does not hold.
    private final func start(_ task: HTTPTask) {
        HandlerCalls.enter {
            let traveller = task.makeTraveller()
            if accepts(traveller) { load(task: traveller) }
        }
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
