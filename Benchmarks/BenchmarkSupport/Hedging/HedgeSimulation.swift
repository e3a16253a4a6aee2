import LoaderChain
import LoaderChainPlatformC
import LoaderChainTesting

/// Requests to simulated servers, in simulated time, through a chain that may hedge them.
///
/// A request draws its time from its number and the number of its attempt, so that two runs with different chains meet
/// the same times.
package struct HedgeSimulation: Sendable {
    /// How long the work on a request takes.
    package enum Work: Sendable {
        /// 50 to 60 ms, and for one request in fifty 1 to 1.2 s.
        case slowTail
        /// Exponentially distributed, with a mean of 100 ms.
        case exponential

        fileprivate func time(_ random: inout SeededGenerator) -> Duration {
            switch self {
            case .slowTail:
                Double.random(in: 0..<1, using: &random) < 0.02
                    ? .microseconds(Int64.random(in: 1_000_000...1_200_000, using: &random))
                    : .microseconds(Int64.random(in: 50_000...60_000, using: &random))
            case .exponential: .seconds(0.1) * HedgeSimulation.exponential(&random)
            }
        }
    }

    package var work = Work.slowTail
    /// How many requests the servers work on at once; the others wait in one queue.
    package var servers = Int.max
    /// How many requests come in a second, at random moments.
    package var arrivalsPerSecond = 100.0
    package var requests = 5_000
    package var seed: UInt64 = 1

    package init() {}

    /// Servers with one queue, and enough requests that they are busy for this share of the time.
    package static func queue(load: Double) -> HedgeSimulation {
        var simulation = HedgeSimulation()
        simulation.work = .exponential
        simulation.servers = 10
        simulation.arrivalsPerSecond = 100 * load
        return simulation
    }

    /// What has come of the requests.
    package struct Course: Sendable {
        /// How long each request took that has a response.
        package fileprivate(set) var times: [Duration] = []
        /// How many requests were sent, with the second attempts.
        package fileprivate(set) var sends = 0

        /// The time that a share of the requests did not exceed.
        package func quantile(_ share: Double) -> Duration {
            let sorted = times.sorted()
            return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
        }
    }

    /// Runs the simulation; `chain` makes the loaders in front of the servers.
    package func run(through chain: (ManualTimers) -> HTTPLoader = { _ in HTTPLoader() }) -> Course {
        let timers = ManualTimers()
        let servers = SimulatedServers(self, timers)
        let chain = chain(timers) --> servers
        let times = Locked<[Duration]>([])
        var random = SeededGenerator(seed: seed)
        var instant = timers.now
        for number in 0..<requests {
            instant = instant.advanced(by: .seconds(Self.exponential(&random) / arrivalsPerSecond))
            let request = HTTPRequest(host: "hedge.test", path: "/items/\(number)", headers: ["Number": "\(number)"])
            timers.schedule(at: instant) {
                let start = timers.now
                chain.load(request: request) { result in
                    guard result.error == nil else { return }
                    let time = start.duration(to: timers.now)
                    times.withLock { $0.append(time) }
                }
            }
        }
        timers.runAll(limit: .max)
        return Course(times: times.withLock { $0 }, sends: servers.sends)
    }

    /// How long the work on an attempt takes.
    fileprivate func time(of number: UInt64, attempt: Int) -> Duration {
        var random = SeededGenerator(seed: (seed << 32 | number) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(attempt))
        return work.time(&random)
    }

    private static func exponential(_ random: inout SeededGenerator) -> Double {
        -log(1 - Double.random(in: 0..<1, using: &random))
    }
}

/// Servers that work on a number of requests at once, in their order; a cancelled request leaves the queue, or the server that works on it.
private final class SimulatedServers: HTTPLoader, @unchecked Sendable {
    private struct State {
        var free: Int
        var waiting: [Job] = []
        var firstWaiting = 0
        var attempts: [UInt64: Int] = [:]
        var sends = 0
    }

    /// A request that waits or is worked on; the lock of its servers protects it.
    private final class Job: @unchecked Sendable {
        let task: HTTPTask
        let time: Duration
        var isRunning = false
        var hasEnded = false

        init(_ task: HTTPTask, taking time: Duration) {
            self.task = task
            self.time = time
        }
    }

    private let simulation: HedgeSimulation
    private let timers: ManualTimers
    private let state: Locked<State>

    init(_ simulation: HedgeSimulation, _ timers: ManualTimers) {
        self.simulation = simulation
        self.timers = timers
        state = Locked(State(free: simulation.servers))
    }

    var sends: Int { state.withLock { $0.sends } }

    override func load(task: HTTPTask) {
        let number = task.request.headers["Number"].flatMap(UInt64.init) ?? 0
        let attempt = state.withLock { state in
            state.sends += 1
            state.attempts[number, default: 0] += 1
            return state.attempts[number] ?? 1
        }
        let job = Job(task, taking: simulation.time(of: number, attempt: attempt))
        task.addCancelHandler { [weak job] task in
            if let job { self.end(job, with: .failure(HTTPError(.cancelled, request: task.request))) }
        }
        state.withLock { $0.waiting.append(job) }
        startNext()
    }

    private func startNext() {
        let started: Job? = state.withLock { state in
            while state.free > 0, state.firstWaiting < state.waiting.count {
                let job = state.waiting[state.firstWaiting]
                state.firstWaiting += 1
                if state.firstWaiting == 1_000 {
                    state.waiting.removeFirst(1_000)
                    state.firstWaiting = 0
                }
                guard !job.hasEnded else { continue }
                state.free -= 1
                job.isRunning = true
                return job
            }
            return nil
        }
        guard let started else { return }
        timers.schedule(after: started.time) {
            self.end(started, with: .success(HTTPResponse(request: started.task.request, status: .ok)))
        }
    }

    private func end(_ job: Job, with result: HTTPResult) {
        let isFirst = state.withLock { state in
            guard !job.hasEnded else { return false }
            job.hasEnded = true
            if job.isRunning { state.free += 1 }
            return true
        }
        guard isFirst else { return }
        job.task.complete(result)
        startNext()
    }
}
