/// A loader that is written as one async method.
///
/// Override ``load(_:next:)``: change the request, ask `next` for its response, look at that, ask again, or answer
/// without asking.
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
/// A cancel of the task cancels the Swift task that the method runs in, and with it what it asked of `next`. A thrown
/// ``HTTPError`` becomes the result as it is, a `CancellationError` becomes ``HTTPError/Code/cancelled``, and any other
/// error lies beneath an ``HTTPError/Code/unknown`` that names this loader.
nonisolated open class AsyncLoader: HTTPLoader, @unchecked Sendable {
    /// Answers a request, usually by asking the loaders after this one.
    ///
    /// The default asks them and changes nothing.
    open func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await next(request)
    }

    /// The loaders after this one, to be asked any number of times.
    public struct Next: Sendable {
        fileprivate let loader: AsyncLoader
        fileprivate let task: HTTPTask

        /// Loads a request with the loaders after this one, as a new task each time.
        ///
        /// - Throws: always an ``HTTPError``. The type is left out on purpose: a `catch … where` on a typed error that
        ///   declares a variable crashes some compilers, and this is where people write one.
        public func callAsFunction(_ request: HTTPRequest) async throws -> HTTPResponse {
            try await loader.pass(request, for: task).get()
        }
    }

    /// Runs the method in a Swift task, and completes the task with what comes of it.
    public final override func load(task: HTTPTask) {
        let work = Task {
            task.complete(await result(of: task.request, for: task))
        }
        task.addCancelHandler { work.cancel() }
    }

    private func result(of request: HTTPRequest, for task: HTTPTask) async -> HTTPResult {
        do {
            return .success(try await load(request, next: Next(loader: self, task: task)))
        } catch let error as HTTPError {
            return .failure(error)
        } catch is CancellationError {
            return .failure(HTTPError(.cancelled, request: request, loader: name))
        } catch {
            return .failure(HTTPError(.unknown, request: request, underlyingError: error, loader: name))
        }
    }

    private func pass(_ request: HTTPRequest, for task: HTTPTask) async -> HTTPResult {
        await task.makeHeldAttempt(request).result { super.load(task: $0) }
    }
}
