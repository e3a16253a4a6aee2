/// Rewrites each request with a closure.
///
/// Put it wherever the rewritten request is wanted; above `Retry`, it works once for all attempts.
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
/// What the closure throws ends the task: an ``HTTPError`` as it is, anything else as
/// ``HTTPError/Code/invalidRequest``.
public final class ModifyRequest: HTTPLoader, @unchecked Sendable {
    private let modifier: @Sendable (HTTPRequest) throws -> HTTPRequest

    /// Makes a loader that passes on what `modifier` makes of each request.
    public init(modifier: @escaping @Sendable (HTTPRequest) throws -> HTTPRequest) {
        self.modifier = modifier
    }

    /// Rewrites the request, and passes the task on.
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
