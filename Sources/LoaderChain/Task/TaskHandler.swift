/// A handler that is registered with a task, for its cancel, its completion or both.
enum TaskHandler: Sendable {
    case completion(@Sendable (HTTPResult) -> Void)
    case plainCompletion(@Sendable () -> Void)
    case cancel(@Sendable (HTTPTask) -> Void)
    case plainCancel(@Sendable () -> Void)
    case observer(any HTTPTaskObserver)
    case filter(any HTTPResultFilter)
    case plainFilter(@Sendable (HTTPResult) -> HTTPResult)

    var hearsCompletion: Bool {
        switch self {
        case .completion, .plainCompletion, .observer: true
        case .cancel, .plainCancel, .filter, .plainFilter: false
        }
    }

    var hearsCancel: Bool {
        switch self {
        case .cancel, .plainCancel, .observer: true
        case .completion, .plainCompletion, .filter, .plainFilter: false
        }
    }

    var filters: Bool {
        switch self {
        case .filter, .plainFilter: true
        case .completion, .plainCompletion, .cancel, .plainCancel, .observer: false
        }
    }

    /// Whether the handler still has something to do after a cancel.
    var outlastsCancel: Bool { hearsCompletion || filters }

    @inline(__always)
    func hear(completionOf task: HTTPTask, _ result: HTTPResult) {
        switch self {
        case .completion(let handler): handler(result)
        case .plainCompletion(let handler): handler()
        case .cancel, .plainCancel: break  // No cancel came before the completion.
        case .filter, .plainFilter: break  // Filters have run before.
        case .observer(let observer): observer.task(task, didCompleteWith: result)
        }
    }

    func hear(cancelOf task: HTTPTask) {
        switch self {
        case .cancel(let handler): handler(task)
        case .plainCancel(let handler): handler()
        case .observer(let observer): observer.taskWasCancelled(task)
        case .completion, .plainCompletion, .filter, .plainFilter:
            break  // They are called at the completion that follows.
        }
    }

    func filtered(_ result: HTTPResult, of task: HTTPTask) -> HTTPResult {
        switch self {
        case .filter(let filter): filter.result(result, of: task)
        case .plainFilter(let filter): filter(result)
        case .completion, .plainCompletion, .cancel, .plainCancel, .observer: result
        }
    }
}

/// A loader, or an object of a loader, that observes how tasks end.
///
/// It does what a pair of handlers does, without allocating a closure for each task. Register it with
/// ``HTTPTask/addObserver(_:)``.
///
/// The task that the methods receive has the ``HTTPTask/id`` of the observed task. It is not always the same object:
/// the cancel of a caller comes with the caller's object, and so does the end of a task that was abandoned.
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

/// A loader, or an object of a loader, that can replace the result of a task.
///
/// It does what a filter closure does, without allocating one for each task. Register it with
/// ``HTTPTask/addResultFilter(_:)-(HTTPResultFilter)``.
public protocol HTTPResultFilter: AnyObject, Sendable {
    /// Returns the result that the task ends with: `result`, or another in its place.
    func result(_ result: HTTPResult, of task: HTTPTask) -> HTTPResult
}
