import LoaderChain

/// Counts what a ``MetricBoard`` does not.
final class DemoLedger: MetricSink {
    struct Counts: Sendable {
        var ended = 0
        /// Attempts after the first.
        var retries = 0
        /// Requests that waited in a queue for a millisecond or longer.
        var waited = 0
        /// Refused requests by the loader that refused them.
        var refused: [String: Int] = [:]
        var bars: [Route: LatencyBars] = [:]
        /// How often a circuit changed to each state.
        var circuits: [CircuitBreaker.State: Int] = [:]
        /// The state of each circuit that has changed, by host.
        var circuitStates: [String: CircuitBreaker.State] = [:]
        /// The longest queue that was seen in the throttle.
        var longestLine = 0
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
        }
    }

    func note(_ change: CircuitBreaker.Change) {
        state.withLock { counts in
            counts.circuits[change.to, default: 0] += 1
            counts.circuitStates[change.host ?? ""] = change.to
        }
    }

    func note(waiting: Int) {
        state.withLock { $0.longestLine = max($0.longestLine, waiting) }
    }
}
