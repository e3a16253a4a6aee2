// Task: one execution of a request: its life, its handlers, its attempts. HTTPTask and its extensions are what users
// see; TaskCore, TaskLife and HandlerCalls are what they are made of. It may use Message, Time and Support, and knows no
// loader.

import LoaderChainPlatformFoundation

/// One execution of a request.
///
/// A task goes down a chain of loaders. The loader that receives it *has* it, and owes it exactly one completion: by
/// passing it on, or by calling ``complete(_:)`` or ``fail(_:response:underlyingError:reason:)``.
///
/// ```swift
/// let task = HTTPTask(request: request)
/// task.addCompletionHandler { result in print(result) }
/// chain.load(task: task)
/// ```
///
/// You can rely on the following:
/// - The first completion wins. Later ones change nothing and return `false`.
/// - ``cancel()`` asks the loader that has the task to stop and complete it. If the cancel comes first, the result is
///   ``HTTPError/Code/cancelled``, whatever the task is completed with.
/// - Completion handlers run once each, the last registered first, and under no lock: a loader further down is done
///   with the task before one above learns the result, and the caller comes last.
/// - A task that no loader holds any more completes with ``HTTPError/Code/abandoned``.
/// - All methods may be called from any thread, and from inside any handler.
public final class HTTPTask: Sendable {
    let core: TaskCore
    private let role: Role

    /// The role of this object for the task: several objects can be handles of one task.
    private enum Role: Sendable {
        /// The object was made with the task. The caller keeps it if another handle goes down the chain, and passes it on otherwise.
        case original
        /// The object goes down the chain for the caller's handle, and keeps that handle alive, which the caller may hold weakly.
        case chainHandle(HTTPTask?)
        /// The object is given to handlers if no other handle is at hand, and is responsible for nothing.
        case reference
    }

    private init(_ core: TaskCore, as role: Role) {
        self.core = core
        self.role = role
    }

    /// Makes a task, to be loaded by a loader.
    public convenience init(request: HTTPRequest) {
        self.init(TaskCore(request), as: .original)
    }

    /// Makes a task with a first completion handler, to be loaded by a loader.
    @preconcurrency
    public convenience init(request: HTTPRequest, completion: @escaping @Sendable (HTTPResult) -> Void) {
        self.init(request: request)
        addCompletionHandler(completion)
    }

    /// Makes the handle that the maker of an attempt keeps, as a caller does.
    convenience init(holding attempt: TaskCore) {
        self.init(attempt, as: .original)
    }

    /// Makes the handle that goes down the chain for a caller's.
    convenience init(chainHandleFor caller: HTTPTask) {
        self.init(caller.core, as: .chainHandle(caller))
    }

    /// Makes the handle that goes down the chain for a task without a caller, such as an attempt.
    convenience init(chainHandleFor core: TaskCore) {
        self.init(core, as: .chainHandle(nil))
    }

    /// Makes a handle for handlers, whose end has no consequences.
    convenience init(for core: TaskCore) {
        self.init(core, as: .reference)
    }

    deinit {
        guard !isCompleted else { return }
        if isResponsible {
            // The loader that had to complete the task has released it.
            HTTPTask(for: core).abandon()
        } else if isFromCaller, core.flags.contains(.hasDeadline) {
            core.unwatchDeadline()
        }
    }

    /// Whether nothing is left to complete the task when this handle is gone.
    private var isResponsible: Bool {
        switch role {
        case .original: core.withState { state, _ in state.life.isAwaited }
        case .chainHandle: true
        case .reference: false
        }
    }

    /// Whether handlers that are registered here are the caller's, and not a loader's.
    var isFromCaller: Bool {
        if case .original = role { true } else { false }
    }

    /// The number that the ``id`` is made of; it rises in the order in which tasks are made.
    package var number: UInt64 { core.number }

    /// Identifies this execution, also among executions of the same request.
    public var id: UUID { TaskIdentity.uuid(number) }

    /// The current request; loaders on the way down may rewrite it.
    ///
    /// Only the loader that has the task rewrites the request, before it passes the task on. ``HTTPResponse/request``
    /// and ``HTTPError/request`` are the request as it was at the end.
    public var request: HTTPRequest {
        get { peek { $0 } }
        set {
            if core.flags.contains(.hasDeadline) || newValue.namesDeadline {
                return core.replaceRequest(with: newValue)
            }
            var request = newValue
            core.withState { state, _ in swap(&state.request, &request) }
            // The old value ends here, outside the lock: it may hold the last reference to a user's object.
        }
    }

    /// An option of the request, read without copying the request.
    @inline(__always)
    func option<Option: HTTPRequestOption>(_ option: Option.Type) -> Option.Value {
        peek { $0.storage.options[option] }
    }

    /// Reads under the lock, so `read` must not call a user's code.
    @inline(__always)
    private func peek<Value: Sendable>(_ read: (HTTPRequest) -> Value) -> Value {
        core.withState { state, _ in read(state.request) }
    }

    /// Whether the task was cancelled before it had a result.
    public var isCancelled: Bool { core.flags.contains(.cancelled) }

    /// Whether the task has its result.
    public var isCompleted: Bool { core.flags.contains(.completed) }

    /// Whether a loader that receives the task still has something to do; ends the task if its deadline has come.
    @inline(__always)
    var isOpen: Bool {
        let flags = core.flags
        return flags.isEmpty || flags.isOpen && (!flags.contains(.hasDeadline) || core.hasTime())
    }

    /// Whether the task has a deadline, read without the lock.
    @inline(__always)
    var hasDeadline: Bool { core.flags.contains(.hasDeadline) }

    var deadline: Deadline? { core.deadline }
}

// MARK: - The loader that has it

extension HTTPTask {
    /// Notes that the loader whose name has this number has the task now.
    @inline(__always)
    func noteHolder(_ number: Int) {
        core.noteHolder(number)
    }

    /// The name of the loader that has the task; nil before the first one has received it.
    var holderName: String? { LoaderName.text(core.holderNumber) }
}

// MARK: - Ending

extension HTTPTask {
    /// Asks the loader that has the task to stop it.
    ///
    /// If the task has a response whose ``HTTPResponse/chunks`` are still being read, they end with
    /// ``HTTPError/Code/cancelled``.
    ///
    /// - Returns: whether this was the first cancel and came before any result.
    @discardableResult
    public func cancel() -> Bool {
        if stop(atDeadline: false) { return true }
        endBody()
        return false
    }

    private func endBody() {
        guard let response = core.withState({ state, _ in state.life.outcome })?.response, let chunks = response.chunks
        else { return }
        // The chunks will hold the error.
        chunks.end(with: HTTPError(.cancelled, request: response.request, response: response.head, loader: holderName))
    }

    /// Cancels a task that has no result yet, for a caller or because its deadline has come.
    @discardableResult
    func stop(atDeadline: Bool) -> Bool {
        let (handlers, leavesAttempts) = core.withState { state, flags in
            let handlers = state.life.cancel()
            if handlers != nil { flags.formUnion(atDeadline ? [.cancelled, .expired] : .cancelled) }
            return (handlers, !state.attempts.isEmpty)
        }
        guard var handlers else { return false }
        HandlerCalls.notify(&handlers, ofCancelOf: self, reachesAttempts: leavesAttempts)
        return true
    }

    /// Gives the task its result, and calls the handlers that wait for it.
    ///
    /// - Returns: whether this was the first result. Otherwise nothing has happened.
    @discardableResult
    public func complete(_ result: HTTPResult) -> Bool {
        finish(with: result)
    }

    /// Completes the task with an error.
    ///
    /// The error names the loader that has the task. To fail a task that you have passed on, use
    /// ``HTTPLoader/fail(_:_:response:underlyingError:reason:)``, which names that loader.
    ///
    /// - Returns: whether this was the first result. Otherwise nothing has happened.
    @discardableResult
    public func fail(
        _ code: HTTPError.Code, response: HTTPResponse? = nil, underlyingError: (any Error)? = nil,
        reason: String? = nil
    ) -> Bool {
        let error = HTTPError(
            code, request: request, response: response, underlyingError: underlyingError, reason: reason,
            loader: holderName)
        return complete(.failure(error))
    }

    /// Completes a task that no loader holds any more.
    private func abandon() {
        let holder = holderName ?? "The first loader"
        fail(.abandoned, reason: "\(holder) released the task without completing it")
    }

    /// Finishes the task's life, and does what that leads to; `hasPassed` if the result has won before, and has passed the filters.
    @inline(__always)
    private func finish(with result: HTTPResult, hasPassed: Bool = false) -> Bool {
        var handlers = HandlerStack()
        var (leavesAttempts, hasDeadline) = (false, false)
        let ending = core.withState { state, flags in
            let ending = state.life.finish(
                result, hasPassed: hasPassed, saysCancelled: saysStopped(result), &handlers)
            if ending == .won { flags.insert(.completed) }
            leavesAttempts = !state.attempts.isEmpty
            hasDeadline = flags.contains(.hasDeadline)
            return ending
        }
        switch ending {
        case .won:
            if hasDeadline { core.unwatchDeadline() }
            if let parent = core.parent { parent.forget(core) }
            // Attempts that are still under way are no longer needed.
            if leavesAttempts { core.cancelAttempts() }
            if !handlers.isEmpty { HandlerCalls.notify(&handlers, of: self, result) }
            return true
        case .lost:
            return false
        case .mustPass:
            return finish(with: result, passing: handlers)
        case .mustSayCancelled:
            return finishAgain(with: stopped(insteadOf: result), hasPassed: hasPassed)
        }
    }

    @inline(never)
    private func finish(with result: HTTPResult, passing filters: consuming HandlerStack) -> Bool {
        var result = result
        while let filter = filters.pop() { result = filter.filtered(result, of: self) }
        return finishAgain(with: result, hasPassed: true)
    }

    // Out of line, because most tasks finish at the first time.
    @inline(never)
    private func finishAgain(with result: HTTPResult, hasPassed: Bool) -> Bool {
        finish(with: result, hasPassed: hasPassed)
    }

    @inline(never)
    private func saysStopped(_ result: HTTPResult) -> Bool { result.error?.code == stopCode }

    private var stopCode: HTTPError.Code { core.flags.contains(.expired) ? .deadlineExceeded : .cancelled }

    private func stopped(insteadOf result: HTTPResult) -> HTTPResult {
        let code = stopCode
        if result.error?.code == code { return result }
        let holder = result.error?.loader ?? holderName
        var reason: String?
        if code == .deadlineExceeded, let deadline = core.deadline {
            reason = "The request's deadline of \(deadline.allowance) passed while \(holder ?? "no loader") had it"
        }
        let response = result.response
        var error = HTTPError(
            code, request: result.request, response: response?.head, underlyingError: result.error?.underlyingError,
            reason: reason, loader: holder)
        error.attempts = result.attempts
        // Nobody gets the body.
        response?.chunks?.end(with: error)
        return .failure(error)
    }
}

// MARK: - As text

extension HTTPTask: CustomStringConvertible, CustomReflectable {
    /// Empty: a dump would read what other threads change at the same time.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The request, the state and the loader that has the task; no secrets.
    public var description: String {
        let state = isCompleted ? "completed" : isCancelled ? "cancelled" : "open"
        let request = request
        let holder = holderName.map { ", with \($0)" } ?? ""
        return "HTTPTask \(id): \(request.method) \(request.loggableURL), \(state)\(holder)"
    }
}
