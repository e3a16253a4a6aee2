/// The rows of a board, in a bounded number.
///
/// The first rows stay. Routes beyond the limit share one row, so that a program that uses too many names loses detail,
/// and the memory stays bounded.
struct MetricBoardState {
    private struct Row {
        var summary = MetricSummary()
        var recent: SlidingWindow<Int>

        init(_ window: Duration) { recent = SlidingWindow(window) }

        mutating func count(_ kind: HTTPMetric.Outcome.Kind, nanoseconds: Int64, at now: TimerInstant) {
            summary.record(kind, nanoseconds: nanoseconds)
            recent.move(to: now)
            recent.add(1)
        }

        func read(at now: TimerInstant, per seconds: Double) -> MetricSummary {
            var recent = recent
            recent.move(to: now)
            var summary = summary
            summary.rate = Double(recent.sum) / seconds
            return summary
        }
    }

    private let limit: Int
    private let window: Duration
    private var rows: [RowKey: Row] = [:]
    private var overflow: Row?

    init(limit: Int, window: Duration) {
        let mostRows = 1 << 20
        self.limit = min(limit, mostRows)
        self.window = max(.milliseconds(1), window)
    }

    /// Counts a request that ended at `now`.
    mutating func count(_ kind: HTTPMetric.Outcome.Kind, nanoseconds: Int64, for key: RowKey, at now: TimerInstant) {
        if let index = rows.index(forKey: key) {
            rows.values[index].count(kind, nanoseconds: nanoseconds, at: now)
        } else if rows.count < limit {
            rows[key, default: Row(window)].count(kind, nanoseconds: nanoseconds, at: now)
        } else {
            if overflow == nil { overflow = Row(window) }
            overflow?.count(kind, nanoseconds: nanoseconds, at: now)
        }
    }

    /// All rows with their rates at `now`.
    func read(at now: TimerInstant) -> [(key: RowKey, summary: MetricSummary)] {
        rows.map { ($0.key, $0.value.read(at: now, per: seconds)) }
    }

    /// The row that routes beyond the limit share; nil if there are none.
    func readOverflow(at now: TimerInstant) -> MetricSummary? { overflow?.read(at: now, per: seconds) }

    /// Forgets everything.
    mutating func removeAll() { self = MetricBoardState(limit: limit, window: window) }

    private var seconds: Double { window / .seconds(1) }
}
