/// The loaders after a given loader, for requests that are made from inside of it.
///
/// An ``AsyncLoader`` passes its request on with it, and a ``TokenSource`` loads a token with it. Each call loads a new
/// task, which does not pass the given loader again. You can make any number of calls.
public struct RestOfChain: Sendable {
    private let start: Start

    private enum Start: Sendable {
        case at(HTTPLoader)
        case after(any ForwardingLoader, for: HTTPTask?)
    }

    /// The chain that begins with `loader`, as for a test of a token source by itself.
    public init(startingWith loader: HTTPLoader) {
        start = .at(loader)
    }

    /// The loaders after `loader`.
    ///
    /// - Parameter task: the task that the requests work for, whose cancel cancels them; nil for requests that stand
    ///   alone.
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
