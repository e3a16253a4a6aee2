import LoaderChain

/// What the demo counts beside what a ``MetricBoard`` does.
final class DemoLedger: MetricSink {
    struct Counts: Sendable {
        /// The requests that ended.
        var ended = 0
        /// The attempts that were more than one.
        var retries = 0
        /// The requests that waited somewhere for a millisecond or longer.
        var waited = 0
        /// The requests that a loader refused, by its name.
        var refused: [String: Int] = [:]
        /// How long the requests to a route took.
        var bars: [Route: LatencyBars] = [:]
        /// Which circuits changed to which state, how often.
        var circuits: [CircuitBreaker.State: Int] = [:]
        /// The state of each circuit that ever changed.
        var circuitStates: [String: CircuitBreaker.State] = [:]
        /// The most tasks that were seen waiting in the throttle.
        var longestLine = 0
    }

    /// What a row is about.
    struct Route: Hashable, Sendable {
        let host: String
        let method: String
        let route: String
    }

    private let state = Guarded(Counts())

    var counts: Counts { state.withLock(\.self) }

    /// It only counts.
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

    /// Notes that a circuit opened or closed.
    func note(_ change: CircuitBreaker.Change) {
        state.withLock { counts in
            counts.circuits[change.to, default: 0] += 1
            counts.circuitStates[change.host ?? ""] = change.to
        }
    }

    /// Notes how many tasks wait in the throttle.
    func note(waiting: Int) {
        state.withLock { $0.longestLine = max($0.longestLine, waiting) }
    }
}
