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
    /// Cancelling the Swift task that waits here cancels the loading. The call returns when the loader that has the request
    /// has stopped, at the request's ``HTTPRequest/deadline``, or ten seconds after the cancel, with an error that names the
    /// loader that has not stopped.
    ///
    /// - Returns: the response. Its status may be any, unless a ``Validate`` of the chain checks it.
    @discardableResult
    public final func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await result(of: request).get()
    }

    /// Loads a request with options that a closure sets.
    ///
    /// ```swift
    /// try await chain.load(.get("me")) { $0.timeout = .seconds(5) }
    /// ```
    ///
    /// The closure is called at once, where the caller is.
    @discardableResult
    public nonisolated(nonsending) final func load(
        _ request: HTTPRequest, configure: (inout HTTPRequest) -> Void
    ) async throws(HTTPError) -> HTTPResponse {
        try await load(request.with(configure))
    }

    /// Loads a request, and returns its result instead of throwing an error.
    ///
    /// In a closure, Swift keeps the type of a thrown error only with `do throws(HTTPError)`. A result always has it:
    ///
    /// ```swift
    /// Task {
    ///     switch await chain.result(of: request) {
    ///     case .success(let response): print(response.status)
    ///     case .failure(let error): print(error.code)
    ///     }
    /// }
    /// ```
    public final func result(of request: HTTPRequest) async -> HTTPResult {
        await HTTPTask(request: request).result { if accept($0) { load(task: $0) } }
    }

    /// Sends a caller's task down the chain, by a handle that the caller does not hold; a cancelled task goes no further.
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
    /// Cancelling the Swift task that waits cancels this task, and ends the wait after `patience`, by the clock of `timers`, in any case.
    func result(on timers: any Timers = SystemTimers.shared, _ load: (HTTPTask) -> Void) async -> HTTPResult {
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                addCompletionHandler { continuation.resume(returning: $0) }
                load(makeChainHandle())
            }
        } onCancel: {
            // A body that has been handed on belongs to whoever reads it.
            stop(atDeadline: false)
            // Most loaders have stopped by now.
            guard !isCompleted else { return }
            let timer = timers.schedule(after: Self.patience) { [weak core] in
                if let core { HTTPTask(for: core).stopWaiting() }
            }
            addCompletionHandler { timer.cancel() }
        }
        // A thread sanitizer does not see how the runtime hands over a result that comes before the wait has begun. It
        // does see this read of what the completion has written.
        _ = isCompleted
        return result
    }

    /// How long a cancelled caller waits for a loader that has not stopped.
    private static var patience: Duration { .seconds(10) }

    /// Tells the caller of the cancel, though the task has not ended; what becomes of that no longer concerns the caller.
    private func stopWaiting() {
        let error = HTTPError(
            .cancelled, request: request, reason: "It was not stopped within \(Self.patience) of the cancel",
            loader: core.lastHolderName)
        var handlers = core.withState { state, _ in state.life.takeCallersHandlers() }
        if !handlers.isEmpty { HandlerCalls.notify(&handlers, of: self, .failure(error)) }
    }
}

// MARK: - From inside of a loader

/// The loaders after a given loader, for requests that are made from inside of it.
///
/// An ``AsyncLoader`` passes its request on with it, and a ``TokenSource`` loads a token with it. Each call loads a new
/// task, which does not pass the given loader again. You can make any number of calls.
public struct Next: Sendable {
    private let start: Start

    private enum Start: Sendable {
        case at(HTTPLoader)
        case after(any ForwardingLoader, for: HTTPTask?)
    }

    /// The chain that begins with `loader`, as for a test of a token source by itself.
    public init(startingWith loader: HTTPLoader) {
        start = .at(loader)
    }

    /// The loaders after `loader`, for requests that work for `task` and are cancelled with it; it is nil for requests that stand alone.
    init(after loader: any ForwardingLoader, for task: HTTPTask? = nil) {
        start = .after(loader, for: task)
    }

    /// Loads a request.
    ///
    /// Cancelling the Swift task that waits here cancels the loading.
    ///
    /// - Throws: always an ``HTTPError``. The type is left out on purpose: a `catch … where` on a typed error that
    ///   declares a variable crashes some compilers, and this is where people write one.
    public func callAsFunction(_ request: HTTPRequest) async throws -> HTTPResponse {
        switch start {
        case .at(let loader): return try await loader.load(request)
        case .after(let loader, let parent):
            let task = parent?.makeHeldAttempt(request) ?? HTTPTask(request: request)
            return try await task.result { loader.forward($0) }.get()
        }
    }
}

/// A loader that lets others of its module pass tasks on to the loaders after it.
protocol ForwardingLoader: HTTPLoader {
    /// Passes a task on to the next loader, as `super.load(task:)` does.
    func forward(_ task: HTTPTask)
}
