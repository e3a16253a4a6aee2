/// The life of a task, decided without threads, clocks or callbacks.
///
/// The phases:
/// - **open**: a loader has the task. A completion finishes it, or settles it first if there are filters.
/// - **settling**: a completion has won and is passing the filters. All others have lost.
/// - **finished**: the task has its only result. Nothing changes any more, and late handlers are called at once.
///
/// A cancel can come in any phase but the last. The loader that has the task then stops and completes it; the result says that
/// the task was cancelled, whatever the loader completes it with.
///
/// Every method changes the state and returns what the owner must do, which it does after it has unlocked.
struct TaskLife: Sendable {
    enum Phase { case open, settling, finished }

    private(set) var phase = Phase.open
    private(set) var isCancelled = false
    private(set) var outcome: HTTPResult?
    private var handlers = HandlerStack()
    private var hasFilters = false
    /// The number of handlers that are the caller's; those are at the bottom.
    private var callersHandlers = 0
    private var hasLoadersHandlers = false

    enum Registration: Sendable {
        case kept
        /// The handler must be called for a cancel now; it may be kept for the completion as well.
        case hearsCancel(TaskHandler)
        /// The handler is not kept, and must be called with the outcome now.
        case hearsOutcome(TaskHandler, HTTPResult)
        /// The handler waits for something that can no longer happen.
        case tooLate
    }

    /// Registers `handler`; a handler of the caller is called after those of all loaders, however late it is registered.
    @inline(__always)
    mutating func register(_ handler: TaskHandler, isFromCaller: Bool) -> Registration {
        guard phase != .finished, !isCancelled else { return registerLate(handler, isFromCaller: isFromCaller) }
        keep(handler, isFromCaller: isFromCaller)
        return .kept
    }

    @inline(never)
    private mutating func registerLate(_ handler: TaskHandler, isFromCaller: Bool) -> Registration {
        if phase == .finished {
            if handler.hearsCompletion, let outcome { return .hearsOutcome(handler, outcome) }
            return handler.hearsCancel && isCancelled ? .hearsCancel(handler) : .tooLate
        }
        if handler.outlastsCancel { keep(handler, isFromCaller: isFromCaller) }
        return handler.hearsCancel ? .hearsCancel(handler) : .kept
    }

    @inline(__always)
    private mutating func keep(_ handler: TaskHandler, isFromCaller: Bool) {
        if handler.filters { hasFilters = true }
        if !isFromCaller {
            hasLoadersHandlers = true
            handlers.push(handler)
        } else {
            callersHandlers += 1
            if hasLoadersHandlers {
                handlers.insert(handler, above: callersHandlers - 1)
            } else {
                handlers.push(handler)
            }
        }
    }

    /// Cancels, and returns the handlers to call, in the order in which they are popped; nil if this changes nothing.
    mutating func cancel() -> HandlerStack? {
        guard phase != .finished, !isCancelled else { return nil }
        isCancelled = true
        let called = handlers.only(\.hearsCancel)
        if !handlers.allSatisfy(\.outlastsCancel) { dropCancelHandlers() }
        return called
    }

    @inline(never)
    private mutating func dropCancelHandlers() {
        let all = handlers.inOrder
        let callers = all.prefix(callersHandlers).filter(\.outlastsCancel)
        handlers = HandlerStack(callers + all.dropFirst(callersHandlers).filter(\.outlastsCancel))
        callersHandlers = callers.count
    }

    /// The result of a completion.
    ///
    /// The handlers that it concerns are returned separately: as associated values they would be copied on the way out of the lock.
    enum Finish: Sendable {
        /// The completion won: the handlers must be called, in the order in which they are popped.
        case won
        /// The completion won, and passes the handlers, which are filters, first: finish again with their result.
        case mustPass
        /// A cancel came first, and the outcome must say so: finish again with one that does.
        case mustSayCancelled
        /// Another completion came first.
        case lost
    }

    /// Finishes the life with `outcome`; `hasPassed` if the completion has won before, and its outcome has passed the filters.
    ///
    /// `saysCancelled`, whether it is an error that says cancelled, is only read after a cancel.
    @inline(__always)
    mutating func finish(
        _ outcome: HTTPResult, hasPassed: Bool = false, saysCancelled: @autoclosure () -> Bool,
        _ concerned: inout HandlerStack
    ) -> Finish {
        guard hasPassed || phase == .open else { return .lost }
        if isCancelled, !saysCancelled() { return .mustSayCancelled }
        if hasFilters, !hasPassed {
            phase = .settling
            concerned = handlers.only(\.filters)
            return .mustPass
        }
        phase = .finished
        self.outcome = outcome
        swap(&handlers, &concerned)
        return .won
    }

    /// Removes the caller's handlers before there is an outcome, so that the caller can get an outcome of its own.
    mutating func takeCallersHandlers() -> HandlerStack {
        guard phase != .finished else { return HandlerStack() }
        let all = handlers.inOrder
        handlers = HandlerStack(all.dropFirst(callersHandlers))
        defer { callersHandlers = 0 }
        return HandlerStack(all.prefix(callersHandlers))
    }

    var observers: [any HTTPTaskObserver] {
        handlers.inOrder.compactMap { if case .observer(let observer) = $0 { observer } else { nil } }
    }

    /// Whether a handler would wait forever if the task were never completed.
    var isAwaited: Bool { phase == .open && !handlers.isEmpty }
}
