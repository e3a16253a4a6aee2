extension Deduplicate {
    /// The tasks that follow executions, from joining to leaving; a follower that leaves is completed and released outside the lock.
    final class Followers: HTTPTaskObserver {
        private let state = Locked(DeduplicateState<Key, HTTPTask, HTTPTask>())

        var counts: (executions: Int, tasks: Int) { state.withLock { ($0.executions, $0.followers) } }

        /// Lets a task follow the execution of its request; returns an execution that has to be started first, with its number.
        func join(_ task: HTTPTask, as key: Key, _ request: HTTPRequest) -> (flight: UInt64, execution: HTTPTask)? {
            let started = state.withLock { state in
                state.join(task, number: task.number, key: key) { HTTPTask(request: request) }
            }
            // After it has joined, because a task that is completed already calls back at once.
            task.addObserver(self)
            return started
        }

        func complete(_ flight: UInt64, with result: HTTPResult) {
            guard let ended = state.withLock({ $0.end(flight) }) else { return }
            for follower in ended.followers { follower.complete(result) }
        }

        func leaveAll() -> (followers: [HTTPTask], executions: [HTTPTask]) {
            state.withLock { $0.reset() }
        }

        private func leave(_ task: HTTPTask) {
            let leaving = state.withLock { $0.leave(task.number) }
            if case .leftLast(_, let execution, _) = leaving { execution.cancel() }
        }

        // MARK: As an observer

        func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
            leave(task)
        }

        func taskWasCancelled(_ task: HTTPTask) {
            leave(task)
            task.fail(.cancelled)
        }
    }
}

/// The executions that are under way and their followers, decided without threads or tasks.
///
/// An execution is *open* while it has followers: requests with its key join it. When the last follower has left, it is
/// cancelled and no longer open, but it stays here until it has ended, so that a reset can wait for it.
struct DeduplicateState<Key: Hashable, Follower, Execution> {
    private struct Flight {
        let key: Key
        let execution: Execution
        var followers: [UInt64: (turn: UInt64, follower: Follower)] = [:]
    }

    private var flights: [UInt64: Flight] = [:]
    private var open: [Key: UInt64] = [:]
    private var flightsOfFollowers: [UInt64: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    var executions: Int { flights.count }
    var followers: Int { flightsOfFollowers.count }

    /// Lets a follower share the open execution of `key`, or else makes a new one, which is returned with its number.
    mutating func join(
        _ follower: Follower, number: UInt64, key: Key, execution: () -> Execution
    ) -> (flight: UInt64, execution: Execution)? {
        lastNumber += 1
        let turn = lastNumber
        if let flight = open[key] {
            flights[flight]?.followers[number] = (turn, follower)
            flightsOfFollowers[number] = flight
            return nil
        }
        let flight = Flight(key: key, execution: execution(), followers: [number: (turn, follower)])
        flights[turn] = flight
        open[key] = turn
        flightsOfFollowers[number] = turn
        return (turn, flight.execution)
    }

    /// What the owner must do when a follower leaves before the end.
    enum Leaving {
        /// Nothing: the end came first.
        case tooLate
        /// Others still follow the execution.
        case left(Follower)
        /// No follower is left: cancel the execution. The key is returned only to end outside the lock.
        case leftLast(Follower, Execution, Key)
    }

    mutating func leave(_ number: UInt64) -> Leaving {
        guard let flight = flightsOfFollowers.removeValue(forKey: number),
            let left = flights[flight]?.followers.removeValue(forKey: number)
        else { return .tooLate }
        guard let remaining = flights[flight], remaining.followers.isEmpty else { return .left(left.follower) }
        open[remaining.key] = nil
        return .leftLast(left.follower, remaining.execution, remaining.key)
    }

    /// Removes an execution that has ended, and returns its followers in their order; the key is returned only to end outside the lock.
    mutating func end(_ flight: UInt64) -> (followers: [Follower], key: Key)? {
        guard let ended = flights.removeValue(forKey: flight) else { return nil }
        if open[ended.key] == flight { open[ended.key] = nil }
        return (takeFollowers(of: ended), ended.key)
    }

    /// Removes all followers; the executions stay until they have ended.
    mutating func reset() -> (followers: [Follower], executions: [Execution]) {
        open = [:]
        let all = flights.sorted { $0.key < $1.key }
        for (number, _) in all { flights[number]?.followers = [:] }
        return (all.flatMap { takeFollowers(of: $0.value) }, all.map(\.value.execution))
    }

    private mutating func takeFollowers(of flight: Flight) -> [Follower] {
        for number in flight.followers.keys { flightsOfFollowers[number] = nil }
        return flight.followers.values.sorted { $0.turn < $1.turn }.map(\.follower)
    }
}
