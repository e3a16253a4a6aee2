import Dispatch

/// The tasks that a loader has passed on and that have not ended, for its reset.
///
/// They are kept by their cores, so that a task is still seen as abandoned when the loaders below have let go of it.
final class TasksInFlight: HTTPTaskObserver {
    private let state = Locked(InFlightState<TaskCore, DispatchGroup>())

    /// The tasks, in the order in which they were made.
    var all: [HTTPTask] { state.withLock { $0.all }.sorted { $0.number < $1.number }.map { HTTPTask(for: $0) } }

    var count: Int { state.withLock { $0.count } }

    /// Remembers a task until its end, and returns whether it may be passed on: not while a reset waits for others.
    func admit(_ task: HTTPTask) -> Bool {
        let isAdmitted = state.withLock { $0.admit(task.core, number: task.number) }
        // Outside the lock and after the entry, because a task that is completed already calls back at once.
        if isAdmitted { task.addObserver(self) }
        return isAdmitted
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        for group in state.withLock({ $0.end(task.number) }) { group.leave() }
    }

    /// Cancels all tasks, and leaves `group` when each has completed.
    func cancelAll(in group: DispatchGroup) {
        group.enter()
        guard let waitedFor = state.withLock({ $0.begin(group) }) else { return group.leave() }
        for core in waitedFor { HTTPTask(for: core).cancel() }
    }

    /// Leaves `group` although tasks have not ended, and admits tasks again.
    func giveUp(_ group: DispatchGroup) {
        for group in state.withLock({ $0.giveUp { $0 === group } }) { group.leave() }
    }
}
