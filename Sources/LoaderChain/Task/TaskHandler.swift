/// Something registered with a task, to hear of its cancel, its completion or both.
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

    /// Whether it still has something to do once it has heard of a cancel.
    var outlastsCancel: Bool { hearsCompletion || filters }

    @inline(__always)
    func hear(completionOf task: HTTPTask, _ result: HTTPResult) {
        switch self {
        case .completion(let handler): handler(result)
        case .plainCompletion(let handler): handler()
        case .cancel, .plainCancel: break  // Nobody cancelled in time.
        case .filter, .plainFilter: break  // They had their turn before.
        case .observer(let observer): observer.task(task, didCompleteWith: result)
        }
    }

    func hear(cancelOf task: HTTPTask) {
        switch self {
        case .cancel(let handler): handler(task)
        case .plainCancel(let handler): handler()
        case .observer(let observer): observer.taskWasCancelled(task)
        case .completion, .plainCompletion, .filter, .plainFilter:
            break  // They have their turn at the completion that follows.
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

/// A loader, or an object of one, that hears how tasks end.
///
/// It does what a pair of handlers does, without the allocation of a closure for each task: the object that hears is one
/// that exists already. Register one with ``HTTPTask/addObserver(_:)``.
///
/// The task that is handed over has the ``HTTPTask/id`` of the one that was observed. It is not always the same object:
/// the cancel of a caller comes with the caller's object, and so does the end of a task that was abandoned.
public protocol HTTPTaskObserver: AnyObject, Sendable {
    /// The task has its result; called once, under no lock, in the order of completion handlers.
    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult)

    /// Somebody asked the task to end before it had a result; called at most once, in the order of cancel handlers.
    func taskWasCancelled(_ task: HTTPTask)
}

extension HTTPTaskObserver {
    /// Ignores the cancel: the completion will follow it.
    public func taskWasCancelled(_ task: HTTPTask) {}
}

/// A loader, or an object of one, that has a say in what a task ends with.
///
/// It does what a filter closure does, without the allocation of one for each task. Register one with
/// ``HTTPTask/addResultFilter(_:)-(HTTPResultFilter)``.
public protocol HTTPResultFilter: AnyObject, Sendable {
    /// Returns what the task is to end with in the place of `result`, or `result` itself.
    func result(_ result: HTTPResult, of task: HTTPTask) -> HTTPResult
}
