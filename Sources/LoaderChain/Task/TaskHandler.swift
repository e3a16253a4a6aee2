/// A handler that is registered with a task, for its cancel, its completion or both.
enum TaskHandler: Sendable {
    case completion(@Sendable (HTTPResult) -> Void)
    case plainCompletion(@Sendable () -> Void)
    case cancel(@Sendable (HTTPTask) -> Void)
    case plainCancel(@Sendable () -> Void)
    case observer(any HTTPTaskObserver)
    case endObserver(any TaskEndObserver)
    case filter(any HTTPResultFilter)
    case plainFilter(@Sendable (HTTPResult) -> HTTPResult)

    var hearsCompletion: Bool {
        switch self {
        case .completion, .plainCompletion, .observer, .endObserver: true
        case .cancel, .plainCancel, .filter, .plainFilter: false
        }
    }

    var hearsCancel: Bool {
        switch self {
        case .cancel, .plainCancel, .observer: true
        case .completion, .plainCompletion, .endObserver, .filter, .plainFilter: false
        }
    }

    var filters: Bool {
        switch self {
        case .filter, .plainFilter: true
        case .completion, .plainCompletion, .cancel, .plainCancel, .observer, .endObserver: false
        }
    }

    var outlastsCancel: Bool { hearsCompletion || filters }

    @inline(__always)
    func call(completionOf task: HTTPTask, _ result: HTTPResult) {
        switch self {
        case .completion(let handler): handler(result)
        case .plainCompletion(let handler): handler()
        case .cancel, .plainCancel: break  // No cancel came before the completion.
        case .filter, .plainFilter: break  // Filters have run before.
        case .observer(let observer): observer.task(task, didCompleteWith: result)
        case .endObserver(let observer): observer.taskHasEnded(task, with: result)
        }
    }

    func call(cancelOf task: HTTPTask) {
        switch self {
        case .cancel(let handler): handler(task)
        case .plainCancel(let handler): handler()
        case .observer(let observer): observer.taskWasCancelled(task)
        case .completion, .plainCompletion, .endObserver, .filter, .plainFilter:
            break  // They are called at the completion that follows.
        }
    }

    func filtered(_ result: HTTPResult, of task: HTTPTask) -> HTTPResult {
        switch self {
        case .filter(let filter): filter.result(result, of: task)
        case .plainFilter(let filter): filter(result)
        case .completion, .plainCompletion, .cancel, .plainCancel, .observer, .endObserver: result
        }
    }
}

/// A loader, or an object of a loader, that observes how tasks end.
///
/// An observer does what a pair of handlers does, without allocating a closure for each task. Register it with
/// ``HTTPTask/addObserver(_:)``.
///
/// The task that the methods receive has the ``HTTPTask/id`` of the observed task. It is not always the same object: the cancel
/// of a caller comes with the caller's object, and the end of an abandoned task does too.
public protocol HTTPTaskObserver: AnyObject, Sendable {
    /// Called once when the task has its result, under no lock, in the order of completion handlers.
    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult)

    /// Called at most once, when the task is cancelled before it has a result, in the order of cancel handlers.
    func taskWasCancelled(_ task: HTTPTask)
}

extension HTTPTaskObserver {
    /// Ignores the cancel, which a completion will follow.
    public func taskWasCancelled(_ task: HTTPTask) {}
}

/// A loader that only has to know when a task has ended; internal, so that a public class can conform without offering its method.
protocol TaskEndObserver: AnyObject, Sendable {
    /// Called once when the task has its result, under no lock, in the order of completion handlers.
    func taskHasEnded(_ task: HTTPTask, with result: HTTPResult)
}

/// A loader, or an object of a loader, that can replace the result of a task.
///
/// A filter object does what a filter closure does, without allocating a closure for each task. Register it with
/// ``HTTPTask/addResultFilter(_:)-(HTTPResultFilter)``.
public protocol HTTPResultFilter: AnyObject, Sendable {
    /// Returns the result that the task ends with: `result`, or another in its place.
    func result(_ result: HTTPResult, of task: HTTPTask) -> HTTPResult
}

// MARK: - Registering them

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
    /// The loader that has the task stops its work here and completes the task. A handler that needs the task takes it as an
    /// argument: capturing the task would retain it and hide that it was abandoned.
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
        // The cancel may come by the caller's handle, but a loader may identify tasks by its own object.
        register(.cancel { [weak self] task in handler(self ?? task) })
    }

    /// Adds an observer of cancel and completion, which has one place in the order of the handlers.
    public func addObserver(_ observer: any HTTPTaskObserver) {
        register(.observer(observer))
    }

    func addEndObserver(_ observer: any TaskEndObserver) {
        register(.endObserver(observer))
    }

    /// Lets `filter` replace the result before any handler is called with it.
    ///
    /// A loader can judge responses this way without a task of its own: the result that a filter returns is the task's only
    /// result, for loaders above and below. Filters run once, the last registered first, under no lock. A cancel takes
    /// precedence over them.
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
            var handlers = HandlerStack([handler])
            HandlerCalls.notify(&handlers, ofCancelOf: self, reachesAttempts: false)
        case .hearsOutcome(let handler, let result):
            var handlers = HandlerStack([handler])
            HandlerCalls.notify(&handlers, of: self, result)
        }
    }
}

// MARK: - Keeping them

/// Handlers in the order of their registration, popped in reverse; four are inline, so that most tasks need no allocation.
struct HandlerStack: Sendable {
    private var first: TaskHandler?
    private var second: TaskHandler?
    private var third: TaskHandler?
    private var fourth: TaskHandler?
    private var rest: [TaskHandler]?

    init() {}

    /// Makes a stack of handlers, the last one on top.
    init(_ handlers: some Sequence<TaskHandler>) {
        for handler in handlers { push(handler) }
    }

    var isEmpty: Bool { first == nil }

    @inline(__always)
    mutating func push(_ handler: TaskHandler) {
        if first == nil {
            first = handler
        } else if second == nil {
            second = handler
        } else if third == nil {
            third = handler
        } else if fourth == nil {
            fourth = handler
        } else {
            pushOnRest(handler)
        }
    }

    @inline(never)
    private mutating func pushOnRest(_ handler: TaskHandler) {
        // The array is taken out, so that it grows in place.
        var grown = rest.take() ?? []
        grown.append(handler)
        rest = grown
    }

    @inline(never)
    mutating func insert(_ handler: TaskHandler, above count: Int) {
        var all = inOrder
        all.insert(handler, at: count)
        self = HandlerStack(all)
    }

    @inline(__always)
    mutating func pop() -> TaskHandler? {
        if first == nil { return nil }
        if second == nil { return first.take() }
        if third == nil { return second.take() }
        if fourth == nil { return third.take() }
        return rest?.popLast() ?? fourth.take()
    }

    /// The handlers from the first registered to the last.
    var inOrder: [TaskHandler] {
        [first, second, third, fourth].compactMap { $0 } + (rest ?? [])
    }

    /// The handlers that match, in the same order.
    @inline(__always)
    func only(_ isIncluded: (TaskHandler) -> Bool) -> HandlerStack {
        var included = HandlerStack()
        if let first, isIncluded(first) { included.push(first) }
        if let second, isIncluded(second) { included.push(second) }
        if let third, isIncluded(third) { included.push(third) }
        if let fourth, isIncluded(fourth) { included.push(fourth) }
        if let rest { for handler in rest where isIncluded(handler) { included.push(handler) } }
        return included
    }

    @inline(__always)
    func allSatisfy(_ predicate: (TaskHandler) -> Bool) -> Bool {
        first.map(predicate) ?? true && second.map(predicate) ?? true && third.map(predicate) ?? true
            && fourth.map(predicate) ?? true && rest?.allSatisfy(predicate) ?? true
    }
}
