/// Leads to a task, to cancel it, without keeping it from being abandoned.
enum TaskLink {
    /// Of a task that travels, the caller's object is kept, which costs less than a weak reference.
    case caller(HTTPTask)
    case weakly(WeakTask)

    init(_ task: HTTPTask) {
        if let caller = task.caller { self = .caller(caller) } else { self = .weakly(WeakTask(task)) }
    }

    /// What can be cancelled in the place of the task; nil if nobody has it any more.
    var target: HTTPTask? {
        switch self {
        case .caller(let task): task
        case .weakly(let reference): reference.task
        }
    }

    /// A weak reference that can be moved about at no cost.
    final class WeakTask {
        private(set) weak var task: HTTPTask?

        init(_ task: HTTPTask) { self.task = task }
    }
}
