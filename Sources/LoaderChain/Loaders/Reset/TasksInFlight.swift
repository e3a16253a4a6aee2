import Dispatch

/// The tasks that a loader has passed on and not heard the end of, remembered for its reset.
///
/// They are remembered by their cores, which keeps no task from being abandoned when everybody below has let go of it.
final class TasksInFlight: HTTPTaskObserver {
    private let state = Guarded(InFlightState<TaskCore, DispatchGroup>())

    var count: Int { state.withLock { $0.count } }

    /// Remembers a task until its end, and answers whether it may be passed on: not while a reset waits for others.
    func admit(_ task: HTTPTask) -> Bool {
        let isAdmitted = state.withLock { $0.admit(task.core, number: task.number) }
        // Outside the lock, and after the entry is there: a task that is over already calls back at once.
        if isAdmitted { task.addObserver(self) }
        return isAdmitted
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        for group in state.withLock({ $0.end(task.number) }) { group.leave() }
    }

    /// Cancels all, and keeps `group` from emptying until each has completed.
    func cancelAll(in group: DispatchGroup) {
        group.enter()
        guard let waitedFor = state.withLock({ $0.begin(group) }) else { return group.leave() }
        for core in waitedFor { HTTPTask(for: core).cancel() }
    }
}
