/// Modifies each request with a closure.
///
/// Put it above the loaders that need the modified request; above `Retry`, it works once for all attempts.
///
/// ```swift
/// let chain = ModifyRequest { $0.headers["User-Agent"] = "Example/1.0" } --> terminal
/// ```
///
/// The closure may be async: the request goes on when it returns. Cancelling the task then cancels the Swift task that the closure
/// runs in.
///
/// ```swift
/// let sign = ModifyRequest { request in
///     request.headers["X-Signature"] = try await signature(of: request)
/// }
/// ```
///
/// An error that the closure throws ends the task: an ``HTTPError`` unchanged, a `CancellationError` as
/// ``HTTPError/Code/cancelled``, any other error as ``HTTPError/Code/invalidRequest``.
public final class ModifyRequest: HTTPLoader, @unchecked Sendable {
    private let modifier: Modifier

    private enum Modifier {
        case immediate(@Sendable (inout HTTPRequest) throws -> Void)
        case async(@Sendable (inout HTTPRequest) async throws -> Void)
    }

    /// Makes a loader that passes on each request as `change` leaves it.
    public init(_ change: @escaping @Sendable (inout HTTPRequest) throws -> Void) {
        modifier = .immediate(change)
    }

    /// Makes a loader that passes on each request as `change` leaves it when it returns.
    public init(_ change: @escaping @Sendable (inout HTTPRequest) async throws -> Void) {
        modifier = .async(change)
    }

    /// Makes a loader that passes on the request that `modifier` returns.
    public init(modifier: @escaping @Sendable (HTTPRequest) throws -> HTTPRequest) {
        self.modifier = .immediate { $0 = try modifier($0) }
    }

    public override func load(task: HTTPTask) {
        switch modifier {
        case .immediate(let change):
            var request = task.request
            do {
                try change(&request)
            } catch {
                return end(task, with: error)
            }
            task.request = request
            super.load(task: task)
        case .async(let change):
            let work = Task {
                var request = task.request
                do {
                    try await change(&request)
                } catch {
                    return end(task, with: error)
                }
                task.request = request
                forward(task)
            }
            task.addCancelHandler { work.cancel() }
        }
    }

    private func end(_ task: HTTPTask, with error: any Error) {
        if let error = error as? HTTPError {
            task.complete(.failure(error))
        } else if error is CancellationError {
            fail(task, .cancelled)
        } else {
            fail(task, .invalidRequest, underlyingError: error, reason: "The request could not be modified")
        }
    }
}

extension ModifyRequest: ForwardingLoader {
    func forward(_ task: HTTPTask) { super.load(task: task) }
}
