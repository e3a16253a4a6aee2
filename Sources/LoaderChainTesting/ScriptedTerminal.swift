import Dispatch
import LoaderChain

/// A terminal whose responses a test decides.
///
/// It holds every task until the test responds, so the test decides what arrives when, on which thread, or not at all:
///
/// ```swift
/// let terminal = ScriptedTerminal()
/// let chain = MyLoader() --> terminal
/// let task = chain.load(request: request) { result in print(result) }
///
/// let held = await terminal.next()
/// #expect(held.request.headers["X-Mine"] == "yes")
/// terminal.answer(held, .notFound)
/// ```
///
/// With a script, it responds at once, inside `load`:
///
/// ```swift
/// let chain = MyLoader() --> ScriptedTerminal { _ in .success(.ok, body: "hello") }
/// ```
///
/// Like every terminal, it refuses requests that cannot be sent. It completes a cancelled task at once, unless you tell it to
/// wait for the test.
public class ScriptedTerminal: HTTPLoader, @unchecked Sendable {
    /// What the terminal completes a task with.
    public enum Answer: Sendable {
        /// A response with this status.
        case success(HTTPStatus = .ok, headers: HTTPHeaders = [:], body: String = "")
        /// An error with this code.
        case failure(HTTPError.Code)
    }

    /// What happens to a held task that is cancelled.
    public enum CancelReaction: Sendable {
        /// It completes at once.
        case completes
        /// It stays until the test responds, as with a transport that takes a while to stop.
        case waits
    }

    private let cancelReaction: CancelReaction
    private let script: (@Sendable (HTTPRequest) -> Answer)?
    private let state = Locked(State())
    private let waits = ResetWaits()

    /// Makes a terminal that holds its tasks until the test responds.
    public init(onCancel: CancelReaction = .completes) {
        cancelReaction = onCancel
        script = nil
    }

    /// Makes a terminal that responds to each request at once, as `script` says.
    public init(_ script: @escaping @Sendable (HTTPRequest) -> Answer) {
        cancelReaction = .completes
        self.script = script
    }

    // MARK: Arrivals

    /// The requests that have arrived so far, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// The tasks that wait for a response, in the order of their arrival.
    public var held: [HTTPTask] { state.withLock { $0.held.map(\.task) } }

    /// Waits for the next task that no earlier call has returned.
    ///
    /// If the Swift task that waits is cancelled, for example by the time limit of a test, it returns a task that has ended as
    /// cancelled, and takes none that arrives.
    public func next() async -> HTTPTask {
        // It also tells this wait from others.
        let none = HTTPTask(request: HTTPRequest())
        none.fail(.cancelled)
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<HTTPTask, Never>) in
                let task = state.withLock { $0.arrival(for: Wait(none: none, continuation: continuation)) }
                if let task { continuation.resume(returning: task) }
            }
        } onCancel: {
            state.withLock { $0.removeWait(none) }?.continuation.resume(returning: none)
        }
    }

    // MARK: Responding

    /// Completes a held task with a response.
    ///
    /// - Returns: whether this was the task's first result.
    @discardableResult
    public func answer(
        _ task: HTTPTask, _ status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: String = ""
    ) -> Bool {
        complete(task, with: .success(status, headers: headers, body: body))
    }

    /// Completes a held task with an error.
    ///
    /// - Returns: whether this was the task's first result.
    @discardableResult
    public func refuse(_ task: HTTPTask, _ code: HTTPError.Code) -> Bool {
        complete(task, with: .failure(code))
    }

    /// Releases a held task without completing it, as a faulty loader would.
    public func forget(_ task: HTTPTask) { _ = remove(task) }

    /// Removes a task from the held ones, and returns it if it was one of them.
    final func remove(_ task: HTTPTask) -> HTTPTask? { state.withLock { $0.remove(task) } }

    @discardableResult
    private func complete(_ task: HTTPTask, with answer: Answer) -> Bool {
        // The test may have answered by the caller's handle. Without the chain's, the task would be abandoned before its result.
        let held = remove(task)
        return withExtendedLifetime(held) {
            switch answer {
            case .success(let status, let headers, let body): task.answer(status, headers: headers, body: body)
            case .failure(let code): fail(task, code)
            }
        }
    }

    // MARK: As a loader

    public override var isTerminal: Bool { true }

    public override func load(task: HTTPTask) {
        if task.failIfInvalid() { return }
        guard let script else { return _ = hold(task) }
        state.withLock { $0.requests.append(task.request) }
        complete(task, with: script(task.request))
    }

    /// Holds a task until it has a result or is forgotten; false for one that is held already.
    final func hold(_ task: HTTPTask) -> Bool {
        // It listens before anybody sees the task here, and may cancel it. A loader above may complete the task, to give it up.
        task.addCompletionHandler { [weak self, weak task] in
            if let task { self?.noteEnd(of: task) }
        }
        task.addCancelHandler { [weak self] task in self?.noteCancel(of: task) }
        let (isNew, waiting) = state.withLock { $0.hold(task) }
        // It may have ended before it was held.
        if task.isCompleted { noteEnd(of: task) }
        waiting?.continuation.resume(returning: task)
        return isNew
    }

    /// Hears that a task was cancelled while it was held.
    func noteCancel(of task: HTTPTask) {
        if cancelReaction == .completes { refuse(task, .cancelled) }
    }

    /// Hears that a task has a result, which this terminal may have given it.
    func noteEnd(of task: HTTPTask) { forget(task) }

    /// Cancels the held tasks, and leaves the group when all of them have completed.
    public override func reset(with group: DispatchGroup) {
        for task in held {
            waits.add(group, for: task)
            task.cancel()
        }
        super.reset(with: group)
    }

    /// Forgets the reset, though tasks are held that it has cancelled.
    public override func resetTimedOut(with group: DispatchGroup) {
        waits.giveUp(group)
        super.resetTimedOut(with: group)
    }

    /// The number of requests that arrived, and of those that are held.
    public override var details: String {
        state.withLock { "received \($0.requests.count), held \($0.held.count)" }
    }
}

extension ScriptedTerminal {
    private struct Wait {
        /// What it returns if it is cancelled.
        let none: HTTPTask
        let continuation: UnsafeContinuation<HTTPTask, Never>
    }

    /// The tasks that have arrived and the calls that wait for them.
    private struct State {
        var requests: [HTTPRequest] = []
        /// In the order of their arrival; a call to `next()` has returned those that are taken.
        var held: [(number: UInt64, task: HTTPTask, isTaken: Bool)] = []
        var waiting: [Wait] = []

        /// Holds a task unless it is held already, and returns whether it was not, and the call that waits for it.
        mutating func hold(_ task: HTTPTask) -> (isNew: Bool, waiting: Wait?) {
            requests.append(task.request)
            guard index(of: task) == nil else { return (false, nil) }
            held.append((task.number, task, isTaken: !waiting.isEmpty))
            return (true, waiting.isEmpty ? nil : waiting.removeFirst())
        }

        /// Returns the next task, or keeps the call that waits for it.
        mutating func arrival(for wait: Wait) -> HTTPTask? {
            if let index = held.firstIndex(where: { !$0.isTaken }) {
                held[index].isTaken = true
                return held[index].task
            }
            // A task is marked as cancelled before its handler runs. If the handler found no wait, that shows here; if it comes
            // later, it finds this one.
            if Task.isCancelled { return wait.none }
            waiting.append(wait)
            return nil
        }

        /// Removes the wait of a call that is cancelled, if it still waits.
        mutating func removeWait(_ none: HTTPTask) -> Wait? {
            waiting.firstIndex { $0.none === none }.map { waiting.remove(at: $0) }
        }

        /// Removes a task by any of its handles, and returns it so that it is released after unlocking.
        mutating func remove(_ task: HTTPTask) -> HTTPTask? {
            index(of: task).map { held.remove(at: $0).task }
        }

        private func index(of task: HTTPTask) -> Int? {
            let number = task.number
            return held.firstIndex { $0.number == number }
        }
    }
}
