extension Deduplicate {
    /// The tasks that follow executions, from when they join until they leave.
    ///
    /// A follower that leaves is completed and released outside the lock.
    final class Followers: HTTPTaskObserver {
        private let state = Locked(DeduplicateState<Key, HTTPTask, HTTPTask>())

        /// How many executions are under way, and for how many tasks.
        var counts: (executions: Int, tasks: Int) { state.withLock { ($0.executions, $0.followers) } }

        /// Lets a task follow the execution of its request.
        ///
        /// - Returns: the execution with its number, if it has to be started first.
        func join(_ task: HTTPTask, as key: Key, _ request: HTTPRequest) -> (flight: UInt64, execution: HTTPTask)? {
            let started = state.withLock { state in
                state.join(task, number: task.number, key: key) { HTTPTask(request: request) }
            }
            // After it has joined, because a task that is completed already calls back at once.
            task.addObserver(self)
            return started
        }

        /// Completes all followers of an execution.
        func complete(_ flight: UInt64, with result: HTTPResult) {
            guard let ended = state.withLock({ $0.end(flight) }) else { return }
            for follower in ended.followers { follower.complete(result) }
        }

        /// Removes all followers, and returns them with the executions to stop.
        func leaveAll() -> (followers: [HTTPTask], executions: [HTTPTask]) {
            state.withLock { $0.reset() }
        }

        private func leave(_ task: HTTPTask) {
            let leaving = state.withLock { $0.leave(task.number) }
            if case .leftLast(_, let execution, _) = leaving { execution.cancel() }
        }

        // MARK: As an observer

        /// Removes a follower that has a result.
        func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
            leave(task)
        }

        /// Removes a follower at once, and completes it as cancelled.
        func taskWasCancelled(_ task: HTTPTask) {
            leave(task)
            task.fail(.cancelled)
        }
    }
}
