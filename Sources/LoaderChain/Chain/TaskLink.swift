/// Leads to a task, to cancel it, without keeping it from being abandoned.
struct TaskLink {
    // Of a task that travels, the caller's object is kept, which is cheaper than a weak reference.
    private let caller: HTTPTask?
    private weak var task: HTTPTask?

    init(_ task: HTTPTask) {
        caller = task.caller
        if caller == nil { self.task = task }
    }

    /// What can be cancelled in the place of the task; nil if nobody has it any more.
    var target: HTTPTask? { caller ?? task }
}
