/// Modifies each request with a closure.
///
/// Put it above the loaders that need the modified request; above `Retry`, it works once for all attempts.
///
/// ```swift
/// let identify = ModifyRequest { request in
///     var request = request
///     request.headers["User-Agent"] = "Example/1.0"
///     return request
/// }
/// let chain = identify --> terminal
/// ```
///
/// An error that the closure throws ends the task: an ``HTTPError`` unchanged, any other error as
/// ``HTTPError/Code/invalidRequest``.
public final class ModifyRequest: HTTPLoader, @unchecked Sendable {
    private let modifier: @Sendable (HTTPRequest) throws -> HTTPRequest

    /// Makes a loader that passes on the request that `modifier` returns.
    public init(modifier: @escaping @Sendable (HTTPRequest) throws -> HTTPRequest) {
        self.modifier = modifier
    }

    /// Modifies the request, and passes the task on.
    public override func load(task: HTTPTask) {
        do {
            task.request = try modifier(task.request)
        } catch let error as HTTPError {
            task.complete(.failure(error))
            return
        } catch {
            fail(task, .invalidRequest, underlyingError: error, reason: "The request could not be modified")
            return
        }
        super.load(task: task)
    }
}
