// Loaders: the loaders that need no transport, each in a folder of its own or, where one file is enough, here. They may
// use everything below. A folder in Loaders uses no other, except where Tests/layers.txt has it higher up.

import Dispatch
import LoaderChainPlatformFoundation

/// A terminal without a server, which responds as you tell it: by method and path, or from a queue.
///
/// Use it in the place of the terminal.
///
/// ```swift
/// let mock = MockLoader()
///     .on(.get, "/users/7", body: #"{"name":"Ada"}"#)
///     .on(.delete, "/users/7", .forbidden)
///     .on(.get, "/news", failing: .timedOut)
/// let chain = Validate() --> mock
/// let user: User = try await chain.load(.get("/users/7"))
/// ```
///
/// A route responds any number of times. A request without a route takes the next handler of the queue:
///
/// ```swift
/// let mock = MockLoader()
/// mock.then(.serviceUnavailable)
///     .then { request, completion in completion(.success(HTTPResponse(request: request, status: .notFound))) }
///     .then(failing: .timedOut)
/// let chain = retry --> mock
/// ```
///
/// If the queue is empty, a request fails with ``HTTPError/Code/cannotConnect``. Like every terminal, it refuses
/// requests that cannot be sent, which use no handler, and completes cancelled tasks at once.
///
/// A reset cancels the tasks that are not answered yet, and waits for them. The routes and the queue stay as they are.
public final class MockLoader: HTTPLoader, TaskHolder, @unchecked Sendable {
    private let handlers = Locked(Handlers())
    private let inFlight = TasksInFlight()

    private typealias Handler = @Sendable (HTTPTask) -> Void

    private struct Handlers {
        var routes: [Route: Handler] = [:]
        var queue = LinkedQueue<Handler>()

        /// Returns the handler of a request's route, or else removes and returns the next one of the queue.
        mutating func next(for request: HTTPRequest) -> Handler? {
            routes[Route(request.method, request.path)] ?? queue.popFirst()
        }
    }

    private struct Route: Hashable {
        let method: HTTPMethod
        let path: String

        init(_ method: HTTPMethod, _ path: String) {
            self.method = method
            self.path = PercentEncoding.path.encodeKeepingEscapes(path.hasPrefix("/") ? path : "/" + path)
        }
    }

    // MARK: Routes

    /// Answers every request of a method and a path with a response.
    ///
    /// A later call for the same method and path replaces the response.
    @discardableResult
    public func on(
        _ method: HTTPMethod, _ path: String, _ status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: String = ""
    ) -> MockLoader {
        on(Route(method, path)) { $0.answer(status, headers: headers, body: body) }
    }

    /// Fails every request of a method and a path with an error.
    @discardableResult
    public func on(_ method: HTTPMethod, _ path: String, failing code: HTTPError.Code) -> MockLoader {
        on(Route(method, path)) { $0.fail(code) }
    }

    /// Answers every request of a method and a path with the response that `answer` returns, or the error that it throws.
    ///
    /// ```swift
    /// mock.on(.post, "/articles") { request in
    ///     HTTPResponse(request: request, status: .created)
    /// }
    /// ```
    ///
    /// Otherwise it is as ``thenAnswer(_:)``.
    @discardableResult
    public func on(
        _ method: HTTPMethod, _ path: String,
        answer: @escaping @Sendable (_ request: HTTPRequest) async throws -> HTTPResponse
    ) -> MockLoader {
        on(Route(method, path), Self.handler(answer))
    }

    private func on(_ route: Route, _ handler: @escaping Handler) -> MockLoader {
        // A replaced handler may be the last owner of something, so it ends outside the lock.
        _ = handlers.withLock { $0.routes.updateValue(handler, forKey: route) }
        return self
    }

    // MARK: The queue

    /// Gives the next task to `handler`, which completes it now or later.
    @discardableResult
    public func then(_ handler: @escaping @Sendable (HTTPTask) -> Void) -> MockLoader {
        _ = handlers.withLock { $0.queue.append(handler) }
        return self
    }

    /// Gives the next request to `handler`, which calls its completion with the result, now or later.
    @discardableResult
    public func then(
        _ handler:
            @escaping @Sendable (_ request: HTTPRequest, _ completion: @escaping @Sendable (HTTPResult) -> Void)
            -> Void
    ) -> MockLoader {
        then { task in handler(task.request) { task.complete($0) } }
    }

    /// Answers the next request with a response.
    @discardableResult
    public func then(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: String = "") -> MockLoader {
        then { task in task.answer(status, headers: headers, body: body) }
    }

    /// Fails the next task with an error.
    @discardableResult
    public func then(failing code: HTTPError.Code) -> MockLoader {
        then { task in task.fail(code) }
    }

    /// Answers the next request with the response that `answer` returns, or the error that it throws.
    ///
    /// Cancelling the task cancels the Swift task that `answer` runs in. A thrown ``HTTPError`` is the result
    /// unchanged; any other error becomes the underlying error of an ``HTTPError/Code/unknown``.
    @discardableResult
    public func thenAnswer(
        _ answer: @escaping @Sendable (_ request: HTTPRequest) async throws -> HTTPResponse
    ) -> MockLoader {
        then(Self.handler(answer))
    }

    private static func handler(
        _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> Handler {
        { task in
            let work = Task {
                do {
                    task.complete(.success(try await answer(task.request)))
                } catch let error as HTTPError {
                    task.complete(.failure(error))
                } catch {
                    task.fail(.unknown, underlyingError: error)
                }
            }
            task.addCancelHandler { work.cancel() }
        }
    }

    // MARK: As a loader

    public override var isTerminal: Bool { true }

    public override func load(task: HTTPTask) {
        if task.failIfInvalid() { return }
        guard inFlight.admit(task) else {
            fail(task, .resetInProgress)
            return
        }
        guard let handler = handlers.withLock({ $0.next(for: task.request) }) else {
            let request = "\(task.request.method) \(ASCII.printable(task.request.path))"
            fail(
                task, .cannotConnect,
                reason: "The mock has no response for \(request); add one with on(_:_:) or then(_:)")
            return
        }
        task.addCancelHandler { [weak self, weak task] in
            if let self, let task { self.fail(task, .cancelled) }
        }
        handler(task)
    }

    /// Cancels the tasks that are not answered yet, and finishes when all have completed.
    public override func reset(with group: DispatchGroup) {
        inFlight.cancelAll(in: group)
        super.reset(with: group)
    }

    /// Takes tasks again, though some that it has cancelled go on.
    public override func resetTimedOut(with group: DispatchGroup) {
        inFlight.giveUp(group)
        super.resetTimedOut(with: group)
    }

    var heldTasks: [HTTPTask] { inFlight.all }

    /// How many handlers are left, and how many tasks are not answered yet.
    public override var details: String { "handlers \(handlers.withLock(\.queue.count)), in flight \(inFlight.count)" }
}

// MARK: - For every terminal that has no network

extension HTTPTask {
    /// Completes the task with a response whose body is a text, and returns whether this was the first result.
    @discardableResult
    package func answer(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: String = "") -> Bool {
        complete(.success(HTTPResponse(request: request, status: status, headers: headers, body: Data(body.utf8))))
    }

    /// Completes the task with an error if its request cannot be sent, and returns whether it did.
    package func failIfInvalid() -> Bool {
        do throws(HTTPError) { _ = try request.encoded() } catch {
            complete(.failure(error))
            return true
        }
        return false
    }
}
