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
    private let body: @Sendable (HTTPRequest, RestOfChain) async throws -> HTTPResponse

    /// Makes a loader of this name that handles requests with `body`.
    public init(
        _ name: String = "ClosureLoader",
        _ body: @escaping @Sendable (HTTPRequest, RestOfChain) async throws -> HTTPResponse
    ) {
        givenName = name
        self.body = body
    }

    /// The name that the loader was given.
    public override var name: String { givenName }

    /// Handles a request with the closure.
    public override func load(_ request: HTTPRequest, next: RestOfChain) async throws -> HTTPResponse {
        try await body(request, next)
    }
}
