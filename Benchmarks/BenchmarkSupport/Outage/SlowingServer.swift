import LoaderChain

/// A server that slows under load.
final class SlowingServer: HTTPLoader, @unchecked Sendable {
    private struct State {
        var busyWith = 0
        var course = OutageCourse(requests: [], successes: [])
    }
    private let simulation: OutageSimulation
    private let timers: SlottedTimers
    private let state = Locked(State())

    init(_ simulation: OutageSimulation, _ timers: SlottedTimers) {
        self.simulation = simulation
        self.timers = timers
    }

    var course: OutageCourse { state.withLock { $0.course } }

    func beginSecond() {
        state.withLock { state in
            state.course.requests.append(0)
            state.course.successes.append(0)
        }
    }

    override func load(task: HTTPTask) {
        guard let latency = state.withLock(latencyOfNext) else {
            task.complete(.success(HTTPResponse(request: task.request, status: .serviceUnavailable)))
            return
        }
        timers.schedule(after: simulation.timeout) { self.fail(task, .timedOut) }
        timers.schedule(after: latency) {
            let isInTime = task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
            self.state.withLock { state in
                state.busyWith -= 1
                if isInTime { state.course.successes[state.course.successes.count - 1] += 1 }
            }
        }
    }

    /// Accepts a request, and returns how long its response takes; nil if the server rejects it.
    private func latencyOfNext(_ state: inout State) -> Duration? {
        let second = state.course.requests.count - 1
        state.course.requests[second] += 1
        guard state.busyWith < simulation.mostAtOnce else { return nil }
        let load = simulation.latencyPerRequest * state.busyWith
        state.busyWith += 1
        return (simulation.outage.contains(second) ? simulation.latencyInOutage : simulation.latency) + load
    }
}
