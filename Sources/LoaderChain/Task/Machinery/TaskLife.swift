/// What a task's life consists of, decided without threads, clocks or callbacks.
///
/// The phases:
/// - **open**: whoever was handed the task has it. A completion finishes it, or settles it first where there are filters.
/// - **settling**: a completion has won and is passing the filters. Others have lost already.
/// - **finished**: it has its one result. Nothing changes any more, and late handlers are answered at once.
///
/// A cancel can come in any phase but the last. From then on whoever has the task stops and completes it; whatever they
/// complete it with, its result says that it was cancelled.
///
/// Every method changes the state and returns what there is to do. The owner does that after it has unlocked.
struct TaskLife: Sendable {
    /// Where the life has got to.
    enum Phase { case open, settling, finished }

    private(set) var phase = Phase.open
    private(set) var isCancelled = false
    private(set) var outcome: HTTPResult?
    private var handlers = HandlerStack()
    private var hasFilters = false
    /// How many of the handlers are the caller's; they are at the bottom.
    private var callersHandlers = 0
    private var hasLoadersHandlers = false

    /// What becomes of a handler that is being registered.
    enum Registration: Sendable {
        /// It is kept for later.
        case kept
        /// It has a cancel to hear of now; it may be kept for the completion as well.
        case hearsCancel(TaskHandler)
        /// It is not kept, and has the outcome to hear of now.
        case hearsOutcome(TaskHandler, HTTPResult)
        /// It waited for something that can no longer come.
        case tooLate
    }

    /// Registers `handler`; one of the caller's hears of the end after all loaders, however late it comes.
    @inline(__always)
    mutating func register(_ handler: TaskHandler, isCallers: Bool) -> Registration {
        guard phase != .finished, !isCancelled else { return registerLate(handler, isCallers: isCallers) }
        keep(handler, isCallers: isCallers)
        return .kept
    }

    @inline(never)
    private mutating func registerLate(_ handler: TaskHandler, isCallers: Bool) -> Registration {
        if phase == .finished {
            if handler.hearsCompletion, let outcome { return .hearsOutcome(handler, outcome) }
            return handler.hearsCancel && isCancelled ? .hearsCancel(handler) : .tooLate
        }
        if handler.outlastsCancel { keep(handler, isCallers: isCallers) }
        return handler.hearsCancel ? .hearsCancel(handler) : .kept
    }

    @inline(__always)
    private mutating func keep(_ handler: TaskHandler, isCallers: Bool) {
        if handler.filters { hasFilters = true }
        if !isCallers {
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

    /// Asks for the end, and returns who is to hear of it in the order in which they are popped; nil if that changes
    /// nothing.
    mutating func cancel() -> HandlerStack? {
        guard phase != .finished, !isCancelled else { return nil }
        isCancelled = true
        let heard = handlers.only(\.hearsCancel)
        if !handlers.allSatisfy(\.outlastsCancel) { dropWhoDoesNotOutlastCancel() }
        return heard
    }

    @inline(never)
    private mutating func dropWhoDoesNotOutlastCancel() {
        let all = handlers.inOrder
        let callers = all.prefix(callersHandlers).filter(\.outlastsCancel)
        handlers = HandlerStack(callers + all.dropFirst(callersHandlers).filter(\.outlastsCancel))
        callersHandlers = callers.count
    }

    /// What becomes of a completion.
    ///
    /// The handlers that it concerns are handed out beside it: inside of it, each would be copied on its way out of the lock.
    enum Finish: Sendable {
        /// It won: the handlers hear of it, in the order in which they are popped.
        case won
        /// It won, and passes the handlers, which are filters, first; then it settles the life with what they made of it.
        case mustPass
        /// A cancel came first: the outcome must say so. Ask again with one that does.
        case mustSayCancelled
        /// Another completion came first.
        case lost
    }

    /// Finishes the life with `outcome`, where `saysCancelled` tells whether that outcome is a cancel's.
    @inline(__always)
    mutating func finish(_ outcome: HTTPResult, saysCancelled: Bool, _ concerned: inout HandlerStack) -> Finish {
        guard phase == .open else { return .lost }
        if isCancelled, !saysCancelled { return .mustSayCancelled }
        guard !hasFilters else {
            phase = .settling
            concerned = handlers.only(\.filters)
            return .mustPass
        }
        return end(with: outcome, &concerned)
    }

    /// Finishes the life with the `outcome` that has passed the filters.
    mutating func settle(_ outcome: HTTPResult, saysCancelled: Bool, _ concerned: inout HandlerStack) -> Finish {
        if isCancelled, !saysCancelled { return .mustSayCancelled }
        return end(with: outcome, &concerned)
    }

    @inline(__always)
    private mutating func end(with outcome: HTTPResult, _ concerned: inout HandlerStack) -> Finish {
        phase = .finished
        self.outcome = outcome
        swap(&handlers, &concerned)
        return .won
    }

    /// The observers that still wait for the end.
    var observers: [any HTTPTaskObserver] {
        handlers.inOrder.compactMap { if case .observer(let observer) = $0 { observer } else { nil } }
    }

    /// Whether somebody would wait for ever if nobody completed it.
    var isAwaited: Bool { phase == .open && !handlers.isEmpty }
}
