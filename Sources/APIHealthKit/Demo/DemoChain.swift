import Foundation
import LoaderChain
import Synchronization

/// The demo's chain, with access to the loaders that report something.
final class DemoChain: Sendable {
    /// How many requests may run at once, unless the settings say otherwise.
    static let limit: UInt = 16

    let head: HTTPLoader
    let throttle = Throttle(maximumNumberOfRequests: limit, perHost: 7)
    let rateLimit: RateLimit
    let gateway: DemoGateway
    /// Metrics as callers see them, including queues and retries.
    let requests: MetricRecorder
    /// The same metrics, summed up per route.
    let board: MetricBoard
    /// Metrics of every attempt that reached the API.
    let attempts: MetricBoard
    let ledger = DemoLedger()
    /// What the demo API's document sets in the throttle.
    let settings: RemoteSettings

    init(port: Int, seed: UInt64, sinks: [any MetricSink], patience: Duration, timers: any Timers) {
        board = MetricBoard(timers: timers)
        attempts = MetricBoard(timers: timers)
        gateway = DemoGateway(port: port)
        let terminal = makeTerminal(timers: timers)
        requests = MetricRecorder(to: [board, ledger] + sinks, capacity: MetricStores.capacity, timers: timers)
        let random = RandomSource(seed: seed)
        let retry = Retry(
            .exponential(delay: 0.15, maximumNumberOfAttempts: 4, random: random),
            totalTimeout: patience * 2,
            timers: timers)
        rateLimit = RateLimit(requests: 45, per: .seconds(1), burst: 6, perHost: true, timers: timers)
        // The defaults are too patient for a demo of ten seconds.
        let breakerSettings = CircuitBreaker.Settings(
            failureRatio: 0.75, minimumNumberOfCalls: 8, window: .seconds(5), openDuration: .milliseconds(1_200),
            maximumOpenDuration: .milliseconds(1_500))
        let breaker = CircuitBreaker(
            breakerSettings, timers: timers, random: random, onChange: { [ledger] in ledger.note($0) })
        let environment = ServerEnvironment(scheme: "http", host: "shop.example", pathPrefix: "/v1")
        settings = RemoteSettings(
            url: URL(string: "http://127.0.0.1:\(port)\(DemoSettings.path)")!, chain: terminal,
            targets: ["shop": .throttle(throttle)], interval: .milliseconds(500), timers: timers,
            onEvent: { [ledger] in ledger.note($0) })
        head =
            ResetGuard() --> Autocancel() --> ApplyEnvironment(environment: environment)
            --> MetricsTap(requests, module: "demo") --> throttle --> retry
            --> MetricsTap(MetricRecorder(attempts, timers: timers)) --> breaker --> rateLimit --> gateway --> terminal
    }
}

/// Sends requests for any host to the demo API, and hides from the loaders above it that there is only one server: the chain sees several
/// hosts, each with its own circuit and limits, and no name has to be resolved.
final class DemoGateway: HTTPLoader, @unchecked Sendable {
    private let port: Int
    private let sentCount = Atomic(0)
    private let endedCount = Atomic(0)

    init(port: Int) { self.port = port }

    var sent: Int { sentCount.load(ordering: .relaxed) }

    var inFlight: Int { max(0, sent - endedCount.load(ordering: .relaxed)) }

    override var details: String { "in flight \(inFlight)" }

    override func load(task: HTTPTask) {
        let asked = task.request
        task.request.scheme = "http"
        task.request.host = "127.0.0.1"
        task.request.port = port
        task.addResultFilter { result in
            switch result {
            case .success(var response):
                response.request = asked
                return .success(response)
            case .failure(var error):
                error.request = asked
                error.response?.request = asked
                return .failure(error)
            }
        }
        sentCount.add(1, ordering: .relaxed)
        task.addCompletionHandler { [weak self] _ in self?.endedCount.add(1, ordering: .relaxed) }
        super.load(task: task)
    }
}

/// Counts what a ``MetricBoard`` does not.
final class DemoLedger: MetricSink {
    struct Counts: Sendable {
        var ended = 0
        var retries = 0
        /// Requests that waited in a queue for a millisecond or longer.
        var waited = 0
        /// Refused requests by the loader that refused them.
        var refused: [String: Int] = [:]
        var bars: [Route: LatencyBars] = [:]
        /// How long the requests took that say something about the server.
        var judgedLatencies: [Route: LatencyHistogram] = [:]
        /// How often a circuit changed to each state.
        var circuits: [CircuitBreaker.State: Int] = [:]
        /// The state of each circuit that has changed, by host.
        var circuitStates: [String: CircuitBreaker.State] = [:]
        var revision: Int64?
        var longestQueue = 0
    }

    struct Route: Hashable, Sendable {
        let host: String
        let method: String
        let route: String
    }

    private let state = Locked(Counts())

    var counts: Counts { state.withLock(\.self) }

    /// Recording only counts, and never waits.
    var isImmediate: Bool { true }

    func record(_ record: MetricRecord) {
        guard case .request(let metric) = record else { return }
        let route = Route(host: metric.host, method: metric.method.rawValue, route: metric.route)
        state.withLock { counts in
            counts.ended += 1
            counts.retries += metric.attempts - 1
            if metric.waiting >= .milliseconds(1) { counts.waited += 1 }
            if case .rejected(_, let loader?) = metric.outcome { counts.refused[loader, default: 0] += 1 }
            counts.bars[route, default: LatencyBars()].record(metric.duration)
            guard metric.outcome.kind.isJudged else { return }
            counts.judgedLatencies[route, default: LatencyHistogram()].record(metric.duration)
        }
    }

    func note(_ change: CircuitBreaker.Change) {
        state.withLock { counts in
            counts.circuits[change.to, default: 0] += 1
            counts.circuitStates[change.host ?? ""] = change.to
        }
    }

    func note(_ event: RemoteSettings.Event) {
        if case .applied(let revision, _) = event { state.withLock { $0.revision = revision } }
    }

    func note(waiting: Int) {
        state.withLock { $0.longestQueue = max($0.longestQueue, waiting) }
    }
}
