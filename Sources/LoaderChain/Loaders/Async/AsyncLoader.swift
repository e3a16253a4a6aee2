/// A loader that is written as one async method.
///
/// Override ``load(_:next:)``: change the request, load it with `next`, inspect the response, load again, or return a
/// response of your own.
///
/// ```swift
/// final class Signing: AsyncLoader, @unchecked Sendable {
///     override func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
///         var request = request
///         request.headers["X-Signature"] = try await signature(of: request)
///         return try await next(request)
///     }
/// }
/// ```
///
/// Cancelling the task cancels the Swift task that the method runs in, and the requests that it has made with `next`. A
/// thrown ``HTTPError`` becomes the result unchanged, a `CancellationError` becomes ``HTTPError/Code/cancelled``, and
/// any other error becomes the underlying error of an ``HTTPError/Code/unknown`` that names this loader.
nonisolated open class AsyncLoader: HTTPLoader, @unchecked Sendable {
    /// Returns the response to a request, usually by loading it with the loaders after this one.
    ///
    /// The default does that and changes nothing.
    open func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await next(request)
    }

    public final override func load(task: HTTPTask) {
        let work = Task {
            task.complete(await result(of: task.request, for: task))
        }
        task.addCancelHandler { work.cancel() }
    }

    private func result(of request: HTTPRequest, for task: HTTPTask) async -> HTTPResult {
        do {
            return .success(try await load(request, next: Next(after: self, for: task)))
        } catch let error as HTTPError {
            return .failure(error)
        } catch is CancellationError {
            return .failure(HTTPError(.cancelled, request: request, loader: name))
        } catch {
            return .failure(HTTPError(.unknown, request: request, underlyingError: error, loader: name))
        }
    }
}

extension AsyncLoader: ForwardingLoader {
    func forward(_ task: HTTPTask) { super.load(task: task) }
}

/// A loader that is written as one closure.
///
/// ```swift
/// let tracing = ClosureLoader("tracing") { request, next in
///     var request = request
///     request.headers["X-Trace"] = newTraceID()
///     return try await next(request)
/// }
/// ```
///
/// Otherwise it is an ``AsyncLoader``.
public final class ClosureLoader: AsyncLoader, @unchecked Sendable {
    private let givenName: String
    private let body: @Sendable (HTTPRequest, Next) async throws -> HTTPResponse

    /// Makes a loader of this name that handles requests with `body`.
    public init(
        _ name: String = "ClosureLoader",
        _ body: @escaping @Sendable (HTTPRequest, Next) async throws -> HTTPResponse
    ) {
        givenName = name
        self.body = body
    }

    public override var name: String { givenName }

    public override func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await body(request, next)
    }
}
