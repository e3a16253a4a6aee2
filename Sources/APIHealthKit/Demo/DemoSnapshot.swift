import LoaderChain
import LoaderChainTerminal

struct DemoSnapshot: Sendable {
    struct Row: Sendable {
        var method: String
        var host: String
        var route: String
        var summary: MetricSummary
        /// How long the requests took that say something about the server.
        var judgedLatency: LatencyHistogram
        var bars: LatencyBars
        /// How the demo API behaves on this route by design.
        var character = ""

        /// Whether it fails too often to be of use.
        var isFailing: Bool { summary.errorRatio >= 0.1 }

        var measured: FailConditions.Measured {
            FailConditions.Measured(
                name: "\(method) \(host)\(route)", errors: summary.judged - summary.good, judged: summary.judged,
                latency: judgedLatency)
        }
    }

    struct Node: Sendable {
        var name: String
        var text: String
        var role = Role.plain
    }

    var address: String
    var elapsed: Duration
    var duration: Duration
    var started = 0
    var ended = 0
    var inFlight = 0
    var waitingForSlot = 0
    var waitingForTurn = 0
    var waitingToRetry = 0
    var retries = 0
    /// The number of requests that ended in each of the last half seconds.
    var pace: [Int] = []
    var rows: [Row] = []
    var nodes: [Node] = []

    var waiting: Int { waitingForSlot + waitingForTurn + waitingToRetry }

    var total: MetricSummary {
        rows.reduce(into: MetricSummary()) { $0.merge($1.summary) }
    }
}

extension DemoChain {
    func snapshot(_ run: DemoRun) -> DemoSnapshot {
        let counts = ledger.counts
        let slots = throttle.snapshot.total
        ledger.note(waiting: slots.waiting)
        let inFlight = gateway.inFlight
        let forTurn = rateLimit.waiting
        var snapshot = DemoSnapshot(address: run.address, elapsed: run.elapsed, duration: run.duration)
        snapshot.started = run.started
        snapshot.ended = counts.ended
        snapshot.inFlight = inFlight
        snapshot.waitingForSlot = slots.waiting
        snapshot.waitingForTurn = forTurn
        // A request with a slot is in flight, waits for its turn, or waits to be retried.
        snapshot.waitingToRetry = max(0, slots.running - inFlight - forTurn)
        snapshot.retries = counts.retries
        snapshot.pace = run.pace
        snapshot.rows = board.rows.map { row in
            let route = DemoLedger.Route(host: row.host, method: row.method.rawValue, route: row.route)
            return DemoSnapshot.Row(
                method: row.method.rawValue, host: row.host, route: row.route, summary: row.summary,
                judgedLatency: counts.judgedLatencies[route] ?? LatencyHistogram(),
                bars: counts.bars[route] ?? LatencyBars(),
                character: DemoEndpoint.allCases.first { row.route.hasPrefix("/v1/\($0)") }?.character ?? "")
        }
        snapshot.nodes = nodes(counts, run)
        return snapshot
    }

    /// What each loader did, from the head of the chain to its terminal.
    private func nodes(_ counts: DemoLedger.Counts, _ run: DemoRun) -> [DemoSnapshot.Node] {
        let total = attempts.total
        let tooMany = attempts.rows.reduce(0) {
            $0 + ($1.host == DemoEndpoint.rates.host ? $1.summary[.clientError] : 0)
        }
        let opened = counts.circuits[.open] ?? 0
        let states = counts.circuitStates.filter { $0.value != .closed }.map { "\($0.key) is \($0.value.words)" }
            .sorted()
        let refused = counts.refused["CircuitBreaker"] ?? 0
        let isLow = throttle.maximumNumberOfRequests < Self.limit
        return [
            .init(name: "ResetGuard", text: run.isReset ? "lets nothing in: the chain is being reset" : "open"),
            .init(
                name: "Autocancel",
                text: "\(run.started - counts.ended) to cancel if the chain is reset, cancelled \(run.cancelled)"),
            .init(
                name: "ApplyEnvironment",
                text: "gave \(NumberText.count(run.environmentCount, "request")) the host shop.example"),
            .init(
                name: "MetricsTap",
                text: "measured \(NumberText.count(counts.ended, "request")), of which \(counts.waited) waited"),
            .init(
                name: "Throttle",
                text: "at most \(throttle.maximumNumberOfRequests) at once"
                    + (isLow ? " by revision \(counts.revision ?? 0) of the settings" : "")
                    + ", 7 per host; longest queue: \(counts.longestQueue)",
                role: throttle.snapshot.total.waiting > 0 ? .warning : .plain),
            .init(
                name: "Retry",
                text:
                    "\(NumberText.count(counts.retries)) \(counts.retries == 1 ? "retry" : "retries"); honored Retry-After \(NumberText.count(tooMany, "time"))"
            ),
            .init(name: "MetricsTap", text: "measured \(NumberText.count(total.count, "attempt"))"),
            .init(
                name: "CircuitBreaker",
                text: (states.isEmpty ? ["all closed"] : states).joined(separator: ", ")
                    + "; opened \(NumberText.count(opened, "time")), refused \(refused)",
                role: states.isEmpty ? .plain : .bad),
            .init(name: "RateLimit", text: "45 a second per host; \(rateLimit.waiting) wait for their turn"),
            .init(name: "\(SystemTerminal.self)", text: "\(gateway.sent) sent, \(gateway.inFlight) in flight"),
        ]
    }
}

extension CircuitBreaker.State {
    fileprivate var words: String {
        switch self {
        case .closed: "closed"
        case .open: "open"
        case .halfOpen: "half-open"
        }
    }
}
