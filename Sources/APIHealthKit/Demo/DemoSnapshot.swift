import LoaderChain

/// Everything that the demo shows at one moment.
struct DemoSnapshot: Sendable {
    struct Row: Sendable {
        var method: String
        var host: String
        var route: String
        var summary: MetricSummary
        var bars: LatencyBars
        /// How the demo API behaves on this route by design.
        var character = ""
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
}

extension DemoSnapshot {
    var waiting: Int { waitingForSlot + waitingForTurn + waitingToRetry }

    var total: MetricSummary {
        rows.reduce(into: MetricSummary()) { $0.merge($1.summary) }
    }
}
