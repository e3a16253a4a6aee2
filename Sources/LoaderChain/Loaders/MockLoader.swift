// Loaders: the loaders that need no transport, each in a folder of its own or, where one file is enough, here. They may
// use everything below. A folder in Loaders uses no other, except where Tests/layers.txt has it higher up.

import Dispatch
import LoaderChainPlatformFoundation

/// A terminal without a server: each request is answered by the next handler of a queue.
///
/// Use it in the place of the terminal.
///
/// ```swift
/// let mock = MockLoader()
/// mock.then(.ok, body: #"{"name":"Ada"}"#)
///     .then { request, completion in completion(.success(HTTPResponse(request: request, status: .notFound))) }
///     .then(failing: .timedOut)
/// let chain = retry --> mock
/// ```
///
/// If the queue is empty, a request fails with ``HTTPError/Code/cannotConnect``. Like every terminal, it refuses
/// requests that cannot be sent, which use no handler, and completes cancelled tasks at once.
///
/// A reset cancels the tasks that are not answered yet, and waits for them. The queue stays as it is.
public final class MockLoader: HTTPLoader, TaskHolder, @unchecked Sendable {
    private let handlers = Locked<ArraySlice<@Sendable (HTTPTask) -> Void>>([])
    private let inFlight = TasksInFlight()

    // MARK: Handlers

    /// Gives the next task to `handler`, which completes it now or later.
    @discardableResult
    public func then(_ handler: @escaping @Sendable (HTTPTask) -> Void) -> MockLoader {
        handlers.withLock { $0.append(handler) }
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
        then { task in
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

    /// True: it completes every task itself.
    public override var isTerminal: Bool { true }

    /// Gives the task to the next handler.
    public override func load(task: HTTPTask) {
        if task.failIfInvalid() { return }
        guard inFlight.admit(task) else {
            fail(task, .resetInProgress)
            return
        }
        guard let handler = handlers.withLock({ $0.popFirst() }) else {
            fail(task, .cannotConnect, reason: "No handler is left for it; add one with then(_:)")
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
    public override var details: String { "handlers \(handlers.withLock(\.count)), in flight \(inFlight.count)" }
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
