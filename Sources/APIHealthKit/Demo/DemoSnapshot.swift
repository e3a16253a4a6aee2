import LoaderChain

/// Everything that the demo shows, at one moment.
struct DemoSnapshot: Sendable {
    /// One route.
    struct Row: Sendable {
        var method: String
        var host: String
        var route: String
        var summary: MetricSummary
        var bars: LatencyBars
        /// What it is like by design.
        var character = ""
    }

    /// What a loader did, in a few words.
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
    /// How many requests ended in each of the last half seconds.
    var pace: [Int] = []
    var rows: [Row] = []
    var nodes: [Node] = []
}

extension DemoSnapshot {
    var waiting: Int { waitingForSlot + waitingForTurn + waitingToRetry }

    /// All routes together.
    var total: MetricSummary {
        rows.reduce(into: MetricSummary()) { $0.merge($1.summary) }
    }
}
