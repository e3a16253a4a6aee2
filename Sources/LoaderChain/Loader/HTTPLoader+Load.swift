extension HTTPLoader {
    /// Loads a request, and calls `completion` once with the result, on the thread on which the result arrives.
    ///
    /// - Returns: a task to cancel the loading with. You need not keep it.
    @preconcurrency
    @discardableResult
    public final func load(request: HTTPRequest, completion: @escaping @Sendable (HTTPResult) -> Void) -> HTTPTask {
        let task = HTTPTask(request: request, completion: completion)
        startLoading(task)
        return task
    }

    /// Loads a request.
    ///
    /// Cancelling the Swift task that waits here cancels the loading. The call still returns only after the loader that
    /// has the request has stopped, or at the request's ``HTTPRequest/deadline``.
    ///
    /// - Returns: the response, whatever its status.
    public final func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await HTTPTask(request: request).result { if accept($0) { load(task: $0) } }.get()
    }

    /// Sends a caller's task down the chain, by a handle that the caller does not hold; one that was cancelled gets no further.
    package final func startLoading(_ task: HTTPTask) {
        HandlerCalls.enter {
            let handle = task.makeChainHandle()
            if accept(handle) { load(task: handle) }
        }
    }
}

extension HTTPTask {
    /// Gives `load` the handle that goes down the chain, and waits for the result.
    ///
    /// Cancelling the Swift task that waits cancels this task.
    func result(_ load: (HTTPTask) -> Void) async -> HTTPResult {
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                addCompletionHandler { continuation.resume(returning: $0) }
                load(makeChainHandle())
            }
        } onCancel: {
            cancel()
        }
        // A thread sanitizer does not see how the runtime hands over a result that comes before the wait has begun. It
        // does see this read of what the completion has written.
        _ = isCompleted
        return result
    }
}
