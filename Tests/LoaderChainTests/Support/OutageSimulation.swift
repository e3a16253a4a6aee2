import LoaderChainTesting

@testable import LoaderChain

/// The outage of the article, in a minute of invented time.
///
/// Clients ask a server every few seconds. Whenever a request times out, the app starts another timer without stopping
/// the first: that is the bug. The server takes the longer the more it has to do, and goes on working for clients that
/// have given up. For a while something else is wrong, and it answers nobody in time.
struct OutageSimulation {
    var clients = 50
    var period = Duration.seconds(5)
    var timeout = Duration.seconds(2)
    /// What an answer takes, and what everything that the server is busy with adds to that.
    var latency = Duration.milliseconds(50)
    var latencyPerRequest = Duration.milliseconds(40)
    /// From when to when an answer takes this long at least.
    var outage = 10..<25
    var latencyInOutage = Duration.seconds(5)
    var seconds = 60

    /// What came of it, second by second.
    struct Course {
        var requests: [Int]
        var successes: [Int]

        /// The most requests that arrived at the server in a second.
        var peak: Int { requests.max() ?? 0 }

        /// The course as a table, for a curve.
        var csv: String {
            let rows = requests.indices.map { "\($0),\(requests[$0]),\(successes[$0])" }
            return (["second,requests,successes"] + rows).joined(separator: "\n")
        }
    }

    /// Lets the minute pass, with what `chain` makes of the loaders before the server.
    func run(through chain: (ManualTimers) -> HTTPLoader = { _ in HTTPLoader() }) -> Course {
        let timers = ManualTimers()
        let server = SlowingServer(self, timers)
        let head = chain(timers)
        head.tail.nextLoader = server
        let app = DoublingApp(period, head, timers)
        for client in 0..<clients { app.startTimer(after: period * (2 * client + 1) / (2 * clients)) }
        for _ in 0..<seconds {
            server.beginSecond()
            timers.advance(by: .seconds(1))
        }
        app.stop()
        timers.runAll(limit: .max)
        return server.course
    }
}

/// An app with the bug.
private final class DoublingApp: Sendable {
    private let period: Duration
    private let chain: HTTPLoader
    private let timers: ManualTimers
    private let isOn = Guarded(true)

    init(_ period: Duration, _ chain: HTTPLoader, _ timers: ManualTimers) {
        self.period = period
        self.chain = chain
        self.timers = timers
    }

    func stop() { isOn.withLock { $0 = false } }

    func startTimer(after delay: Duration) {
        timers.schedule(after: delay) { if self.isOn.withLock({ $0 }) { self.tick() } }
    }

    private func tick() {
        startTimer(after: period)
        chain.load(request: HTTPRequest(host: "api.example.com", path: "/news")) { result in
            // The timer that has just ticked goes on.
            if result.error?.code == .timedOut { self.startTimer(after: self.period) }
        }
    }
}

/// A server that slows under load.
private final class SlowingServer: HTTPLoader, @unchecked Sendable {
    private struct State {
        var busyWith = 0
        var course = OutageSimulation.Course(requests: [], successes: [])
    }
    private let simulation: OutageSimulation
    private let timers: ManualTimers
    private let state = Guarded(State())

    init(_ simulation: OutageSimulation, _ timers: ManualTimers) {
        self.simulation = simulation
        self.timers = timers
    }

    var course: OutageSimulation.Course { state.withLock { $0.course } }

    func beginSecond() {
        state.withLock { state in
            state.course.requests.append(0)
            state.course.successes.append(0)
        }
    }

    override func load(task: HTTPTask) {
        let latency = state.withLock { state in
            let isOut = simulation.outage.contains(state.course.requests.count - 1)
            let load = simulation.latencyPerRequest * state.busyWith
            state.busyWith += 1
            state.course.requests[state.course.requests.count - 1] += 1
            return (isOut ? simulation.latencyInOutage : simulation.latency) + load
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
}
