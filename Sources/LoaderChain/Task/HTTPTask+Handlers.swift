/// Handlers, observers and filters.
extension HTTPTask {
    /// Calls `handler` with the result when the task completes, or at once if it has.
    ///
    /// Deep inside other handlers, the call waits until those have returned. A handler must therefore not block until
    /// another task has ended.
    @preconcurrency
    public func addCompletionHandler(_ handler: @escaping @Sendable (HTTPResult) -> Void) {
        register(.completion(handler))
    }

    /// Calls `handler` when the task completes, or at once if it has.
    @preconcurrency
    public func addCompletionHandler(_ handler: @escaping @Sendable () -> Void) {
        register(.plainCompletion(handler))
    }

    /// Calls `handler` when the task is cancelled before it has a result, or at once if it was.
    ///
    /// This is where the loader that has the task stops its work and completes the task. A handler that needs the task
    /// takes it as an argument: one that captured it would keep it alive, so that the task could not be seen to be
    /// abandoned.
    ///
    /// All cancel handlers are called before the completion handlers of the completion that they lead to, unless
    /// another thread completes the task at the same moment.
    @preconcurrency
    public func addCancelHandler(_ handler: @escaping @Sendable () -> Void) {
        register(.plainCancel(handler))
    }

    /// Calls `handler` with the task when it is cancelled before it has a result, or at once if it was.
    @preconcurrency
    public func addCancelHandler(_ handler: @escaping @Sendable (HTTPTask) -> Void) {
        guard !isFromCaller else { return register(.cancel(handler)) }
        // The cancel may come by the caller's handle, but a loader may tell tasks apart by the identity of its own.
        register(.cancel { [weak self] task in handler(self ?? task) })
    }

    /// Adds an observer of cancel and completion, which has one place in the order of the handlers.
    public func addObserver(_ observer: any HTTPTaskObserver) {
        register(.observer(observer))
    }

    /// Lets `filter` replace the result before any handler is called with it.
    ///
    /// A loader can judge responses this way without a task of its own: what a filter makes of the first result is the
    /// task's only result, for loaders above and below. Filters run once, the last registered first, under no lock. A
    /// cancel takes precedence over them.
    @preconcurrency
    public func addResultFilter(_ filter: @escaping @Sendable (HTTPResult) -> HTTPResult) {
        register(.plainFilter(filter))
    }

    /// Lets `filter` replace the result before any handler is called with it.
    public func addResultFilter(_ filter: any HTTPResultFilter) {
        register(.filter(filter))
    }

    @inline(__always)
    private func register(_ handler: TaskHandler) {
        let registration = core.withState { state, _ in state.life.register(handler, isFromCaller: isFromCaller) }
        guard case .kept = registration else { return carryOut(registration) }
    }

    @inline(never)
    private func carryOut(_ registration: TaskLife.Registration) {
        switch registration {
        case .kept, .tooLate: break
        case .hearsCancel(let handler):
            var told = HandlerStack([handler])
            HandlerCalls.tell(&told, ofCancelOf: self, reachesAttempts: false)
        case .hearsOutcome(let handler, let result):
            var told = HandlerStack([handler])
            HandlerCalls.tell(&told, of: self, result)
        }
    }
}
