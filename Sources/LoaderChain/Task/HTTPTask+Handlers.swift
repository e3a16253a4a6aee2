/// Hearing of the end.
extension HTTPTask {
    /// Calls `handler` with the result: when it is there, or at once if it is.
    ///
    /// Deep inside other handlers, it is called when those have returned. So a handler never blocks until another task
    /// has ended.
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
    /// This is where the loader that has the task stops its work and completes the task. A handler that needs the task
    /// takes it as an argument; one that captured it would keep it alive, and nobody could see that it was abandoned.
    ///
    /// Everybody hears of the cancel before anybody hears of the completion that it leads to, unless another thread
    /// completes the task at that very moment.
    @preconcurrency
    public func addCancelHandler(_ handler: @escaping @Sendable () -> Void) {
        register(.plainCancel(handler))
    }

    /// Calls `handler` with the task when it is cancelled before it has a result, or at once if it was.
    @preconcurrency
    public func addCancelHandler(_ handler: @escaping @Sendable (HTTPTask) -> Void) {
        guard !isCallers else { return register(.cancel(handler)) }
        // The cancel may come with the caller's object. Whoever has this one may know it by what it is.
        register(.cancel { [weak self] task in handler(self ?? task) })
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
        let registration = core.withState { state, _ in state.life.register(handler, isCallers: isCallers) }
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
