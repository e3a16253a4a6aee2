import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One execution of a request.
///
/// A task travels down a chain of loaders. Whoever is handed it *has* it, and owes it exactly one completion: by passing
/// it on, or by calling ``complete(_:)`` or ``fail(_:response:underlyingError:reason:)``.
///
/// ```swift
/// let task = HTTPTask(request: request)
/// task.addCompletionHandler { result in print(result) }
/// chain.load(task: task)
/// ```
///
/// What can be relied on:
/// - The first completion wins. Later ones change nothing and answer `false`.
/// - ``cancel()`` asks whoever has the task to stop; that one completes it. Once the cancel came first, the result is
///   ``HTTPError/Code/cancelled`` whatever is completed with.
/// - Completion handlers run once each, the last registered first, and under no lock: a loader further down has settled
///   its books before one above hears of the result, and the caller comes last.
/// - A task that everybody has let go of completes with ``HTTPError/Code/abandoned``.
/// - Any of its methods may be called from any thread, and from inside any handler.
public final class HTTPTask: @unchecked Sendable {
    private let lock = TinyLock()
    @exclusivity(unchecked) private var life = TaskLife<TaskHandler, HTTPResult>()
    @exclusivity(unchecked) private var currentRequest: HTTPRequest
    @exclusivity(unchecked) private var attempts = AttemptList()
    // Beside the list, because asking the list would copy its weak references for every task that completes.
    @exclusivity(unchecked) private var hasAttempts = false

    private let holder = Atomic<Unmanaged<LoaderName>?>(nil)
    private let number: UInt64
    private let parent: HTTPTask?

    /// Makes a task that is still to be loaded.
    public init(request: HTTPRequest) {
        currentRequest = request
        number = TaskIdentity.next()
        parent = nil
    }

    /// Makes a task that is still to be loaded, with a first completion handler.
    @preconcurrency
    public convenience init(request: HTTPRequest, completion: @escaping @Sendable (HTTPResult) -> Void) {
        self.init(request: request)
        addCompletionHandler(completion)
    }

    private init(attemptOf parent: HTTPTask, number: UInt64, request: HTTPRequest) {
        currentRequest = request
        self.number = number
        self.parent = parent
    }

    /// Stands in for a task that is being released, so that its handlers can be handed an object that lives.
    private init(inheriting task: borrowing HTTPTask) {
        currentRequest = task.currentRequest
        number = task.number
        parent = nil
        life = task.life
        attempts = task.attempts
        hasAttempts = task.hasAttempts
        lock.release(task.lock.flags)
        holder.store(task.holder.load(ordering: .relaxed), ordering: .relaxed)
    }

    deinit {
        if life.isAwaited {
            HTTPTask(inheriting: self).abandon()
        }
        parent?.forgetAttempt(number)
    }

    /// What sets this execution apart from every other, also from one of the same request.
    public var id: UUID { TaskIdentity.uuid(number) }

    /// The request as it stands; loaders on the way down may rewrite it.
    ///
    /// Only the loader that has the task rewrites it, before passing it on. ``HTTPResponse/request`` and
    /// ``HTTPError/request`` show what it had become in the end.
    public var request: HTTPRequest {
        get {
            let flags = lock.acquire()
            defer { lock.release(flags) }
            return currentRequest
        }
        set {
            let flags = lock.acquire()
            // The old value leaves through `unused`, because it may hold the last reference to something of a user's.
            let unused = exchange(&currentRequest, with: newValue)
            lock.release(flags)
            _ = consume unused
        }
    }

    /// What the request says to the loaders that know `option`; cheaper than to ask a copy of the request.
    ///
    /// For this library's own options: the default is asked for under the lock.
    @inline(__always)
    func option<Option: HTTPRequestOption>(_ option: Option.Type) -> Option.Value {
        let flags = lock.acquire()
        defer { lock.release(flags) }
        return currentRequest[option: option]
    }

    /// Whether somebody asked for its end before it had a result.
    public var isCancelled: Bool { lock.flags.contains(.cancelled) }

    /// Whether it has its result.
    public var isCompleted: Bool { lock.flags.contains(.completed) }

    // MARK: Hearing of the end

    /// Calls `handler` with the result: when it is there, or at once if it is.
    @preconcurrency
    public func addCompletionHandler(_ handler: @escaping @Sendable (HTTPResult) -> Void) {
        register(.completion(handler))
    }

    /// Calls `handler` when the result is there, or at once if it is.
    @preconcurrency
    public func addCompletionHandler(_ handler: @escaping @Sendable () -> Void) {
        register(.plainCompletion(handler))
    }

    /// Calls `handler` when the task is cancelled before it has a result, or at once if it was.
    ///
    /// This is where the loader that has the task stops its work and completes the task.
    @preconcurrency
    public func addCancelHandler(_ handler: @escaping @Sendable () -> Void) {
        register(.cancel(handler))
    }

    /// Lets `observer` hear of cancel and completion, in one place in the order of the handlers.
    public func addObserver(_ observer: any HTTPTaskObserver) {
        register(.observer(observer))
    }

    /// Lets `filter` replace the result before anybody hears of it.
    ///
    /// This is how a loader judges what arrives without a task of its own: what a filter makes of the first result is the
    /// task's one result, for loaders above and below. Filters run once, the last registered first, under no lock. A
    /// cancel outdoes them.
    @preconcurrency
    public func addResultFilter(_ filter: @escaping @Sendable (HTTPResult) -> HTTPResult) {
        register(.plainFilter(filter))
    }

    /// Lets `filter` replace the result before anybody hears of it.
    public func addResultFilter(_ filter: any HTTPResultFilter) {
        register(.filter(filter))
    }

    @inline(__always)
    private func register(_ handler: TaskHandler) {
        let flags = lock.acquire()
        let registration = life.register(handler)
        lock.release(flags)
        switch registration {
        case .kept, .tooLate: break
        case .keptHearingCancel, .hearsCancel: handler.hear(cancelOf: self)
        case .hearsOutcome(let result): Delivery.tell(handler, of: self, result)
        }
    }

    // MARK: Ending it

    /// Asks whoever has the task to stop it.
    ///
    /// - Returns: whether this was the first cancel, and came before any result.
    @discardableResult
    public func cancel() -> Bool {
        let flags = lock.acquire()
        let heard = life.cancel()
        let attempts = heard == nil ? AttemptList() : self.attempts
        lock.release(heard == nil ? flags : flags.union(.cancelled))
        guard let heard else { return false }
        attempts.cancel()
        for handler in heard { handler.hear(cancelOf: self) }
        return true
    }

    /// Gives the task its result and tells everybody who waits for it.
    ///
    /// - Returns: whether this was the first result. Otherwise nothing has happened.
    @discardableResult
    public func complete(_ result: HTTPResult) -> Bool {
        let flags = lock.acquire()
        switch life.finish(result, saysCancelled: false) {
        case .won(let handlers):
            let leavesAttempts = hasAttempts
            lock.release(flags.union(.completed))
            settle(result, handlers, leavesAttempts)
            return true
        case .lost:
            lock.release(flags)
            return false
        case .mustPass(let filters):
            lock.release(flags)
            return complete(with: result, passing: filters)
        case .mustSayCancelled:
            lock.release(flags)
            return complete(with: cancelled(insteadOf: result)) { life, result in
                life.finish(result, saysCancelled: true)
            }
        }
    }

    /// Completes the task with an error of its request.
    ///
    /// The error names the loader that has the task. To fail one that was passed on, use
    /// ``HTTPLoader/fail(_:_:response:underlyingError:reason:)``, which names itself.
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

    @inline(never)
    private func complete(with result: HTTPResult, passing filters: consuming HandlerStack<TaskHandler>) -> Bool {
        var result = result
        while let filter = filters.pop() { result = filter.filtered(result, of: self) }
        return complete(with: result) { life, result in
            life.settle(result, saysCancelled: result.error?.code == .cancelled)
        }
    }

    /// Ends the life by `step` as often as the answer asks for something else.
    @inline(never)
    private func complete(
        with result: HTTPResult,
        by step: (inout TaskLife<TaskHandler, HTTPResult>, HTTPResult) -> TaskLife<TaskHandler, HTTPResult>.Finish
    ) -> Bool {
        let flags = lock.acquire()
        switch step(&life, result) {
        case .won(let handlers):
            let leavesAttempts = hasAttempts
            lock.release(flags.union(.completed))
            settle(result, handlers, leavesAttempts)
            return true
        case .lost:
            lock.release(flags)
            return false
        case .mustPass(let filters):
            lock.release(flags)
            return complete(with: result, passing: filters)
        case .mustSayCancelled:
            lock.release(flags)
            return complete(with: cancelled(insteadOf: result), by: step)
        }
    }

    private func cancelled(insteadOf result: HTTPResult) -> HTTPResult {
        if result.error?.code == .cancelled { return result }
        return .failure(
            HTTPError(
                .cancelled, request: result.request, response: result.response,
                underlyingError: result.error?.underlyingError, loader: result.error?.loader ?? holderName))
    }

    @inline(__always)
    private func settle(
        _ result: HTTPResult, _ handlers: consuming HandlerStack<TaskHandler>, _ leavesAttempts: Bool
    ) {
        if let parent { parent.forgetAttempt(number) }
        // What still works for this task works for nobody now.
        if leavesAttempts { cancelAttempts() }
        if !handlers.isEmpty { Delivery.tell(handlers, of: self, result) }
    }

    // MARK: Attempts

    /// Makes another task that works for this one, as a retry does.
    ///
    /// Cancelling this task cancels its attempts, and so does completing it while some are still under way. What an
    /// attempt's result means for this task is for its maker to say, in a completion handler of the attempt.
    ///
    /// ```swift
    /// override func load(task: HTTPTask) {
    ///     let attempt = task.makeAttempt()
    ///     attempt.addCompletionHandler { result in task.complete(result) }
    ///     super.load(task: attempt)
    /// }
    /// ```
    ///
    /// - Parameter request: what the attempt is to load; nil for the request of this task as it is now.
    public func makeAttempt(_ request: HTTPRequest? = nil) -> HTTPTask {
        let attempt = HTTPTask(attemptOf: self, number: TaskIdentity.next(), request: request ?? self.request)
        adopt(attempt)
        return attempt
    }

    /// Makes the task that travels down the chain while this one stays with the caller.
    ///
    /// They are two objects of one identity, so that a caller who holds on to his cannot keep the other from being seen
    /// as abandoned. This one gets the other's result after everybody below has.
    func makeTraveller() -> HTTPTask {
        let traveller = HTTPTask(attemptOf: self, number: number, request: request)
        traveller.register(.relay(to: self))
        adopt(traveller)
        return traveller
    }

    private func adopt(_ attempt: HTTPTask) {
        let flags = lock.acquire()
        let isOpen = life.phase == .open && !life.isCancelled
        if isOpen {
            attempts.add(attempt, number: attempt.number)
            hasAttempts = true
        }
        lock.release(flags)
        if !isOpen { attempt.cancel() }
    }

    private func forgetAttempt(_ number: UInt64) {
        let flags = lock.acquire()
        attempts.remove(number: number)
        hasAttempts = !attempts.isEmpty
        lock.release(flags)
    }

    @inline(never)
    private func cancelAttempts() {
        let flags = lock.acquire()
        let left = attempts
        lock.release(flags)
        left.cancel()
    }

    private func abandon() {
        let by = holderName.map { "\($0) let go of it" } ?? "it was let go of before a loader had it"
        fail(.abandoned, reason: "Nobody holds the task any more, and nobody completed it: \(by)")
    }
}

// MARK: - Who has it

extension HTTPTask {
    /// Notes that the loader of this name has the task now.
    @inline(__always)
    func isHeld(by name: Unmanaged<LoaderName>) {
        // Relaxed, because it only tells what to name: the loader's name lives for ever.
        holder.store(name, ordering: .relaxed)
    }

    /// The name of the loader that has the task, once one was handed it by another.
    var holderName: String? {
        holder.load(ordering: .relaxed)?.takeUnretainedValue().text
    }

    /// Whether there is still something to do for a loader that is handed the task.
    @inline(__always)
    var isOpen: Bool { lock.flags.isEmpty }
}

extension TinyLock.Flags {
    fileprivate static let cancelled = first
    fileprivate static let completed = second
}
