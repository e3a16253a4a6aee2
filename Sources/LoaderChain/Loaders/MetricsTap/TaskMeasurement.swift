/// The measurement of one task: the only allocation that measuring costs.
///
/// A measurement observes the task's waits and its end. The task keeps it until then; it keeps neither the task nor the tap.
final class TaskMeasurement: HTTPTaskWaitObserver {
    private let settings: MetricsTap.Settings
    private let start: TimerInstant
    /// The row in which the task is counted as active, if it is.
    private let row: Int?
    private let waits = InPlaceLocked(WaitClock())

    init(by settings: MetricsTap.Settings, row: Int?) {
        self.settings = settings
        self.row = row
        start = settings.now
    }

    func waitBegan() {
        let now = settings.now
        waits.withLock { $0.begin(at: now) }
    }

    func waitEnded() {
        let now = settings.now
        waits.withLock { $0.end(at: now) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        if let row { settings.active?.end(row) }
        // A loader below may have decided that the request must not be measured.
        guard result.request.measurement == .always else { return }
        let end = settings.now
        let duration = max(.zero, start.duration(to: end))
        settings.recorder.emit(result, duration: duration) {
            settings.metric(
                of: result, duration: duration, waiting: min(duration, waits.withLock { $0.total(at: end) }))
        }
    }
}

/// Adds up the time of waits; overlapping waits count once.
struct WaitClock {
    private var waiting = 0
    private var since = TimerInstant(nanoseconds: 0)
    private var sum = Duration.zero

    var isWaiting: Bool { waiting > 0 }

    mutating func begin(at now: TimerInstant) {
        if waiting == 0 { since = now }
        waiting += 1
    }

    mutating func end(at now: TimerInstant) {
        guard waiting > 0 else { return }
        waiting -= 1
        if waiting == 0 { sum += passed(until: now) }
    }

    /// The sum up to now, with a wait that is not over.
    func total(at now: TimerInstant) -> Duration {
        waiting > 0 ? sum + passed(until: now) : sum
    }

    /// Not negative: two threads may read the clock in one order and arrive here in the other.
    private func passed(until now: TimerInstant) -> Duration {
        max(.zero, since.duration(to: now))
    }
}

/// How many requests are under way, by method and server, in a bounded number of rows.
final class ActiveRequests: Sendable {
    private struct Key: Hashable {
        let method: String
        let scheme: String
        let host: String
        let port: Int?
    }

    /// The first rows stay; what comes beyond them is counted in one more.
    private struct Table {
        var rows: [Key: Int] = [:]
        var counts: [Int] = []
    }

    private static let mostRows = 200
    private let table = Locked(Table())

    /// Counts a request that begins; returns its row, which stays the same when loaders below rewrite the request.
    func begin(_ request: HTTPRequest) -> Int {
        let key = Key(
            method: request.method.nameInOpenTelemetry, scheme: request.scheme, host: request.hostKey,
            port: request.portToConnect)
        return table.withLock { table in
            let row = table.rows[key] ?? min(table.counts.count, Self.mostRows)
            if row == table.counts.count {
                table.counts.append(0)
                if row < Self.mostRows { table.rows[key] = row }
            }
            table.counts[row] += 1
            return row
        }
    }

    func end(_ row: Int) { table.withLock { $0.counts[row] -= 1 } }

    /// The rows, also those that have come down to zero.
    var readings: [LoaderReading] {
        let table = table.withLock { $0 }
        let rows = table.rows.map { key, row in
            var attributes = [
                "http.request.method": key.method, "server.address": key.host, "url.scheme": key.scheme,
            ]
            if let port = key.port { attributes["server.port"] = "\(port)" }
            return Self.reading(table.counts[row], attributes)
        }
        let others = table.counts.dropFirst(Self.mostRows).map { Self.reading($0, ["otel.metric.overflow": "true"]) }
        return rows.sorted { $0.description < $1.description } + others
    }

    private static func reading(_ count: Int, _ attributes: [String: String]) -> LoaderReading {
        LoaderReading(
            "http.client.active_requests", .level, count, unit: "{request}", help: "How many requests are under way",
            attributes: attributes)
    }
}

/// Counts a request that is not in the sample until its end.
final class ActiveEnd: TaskEndObserver {
    private let row: Int
    private let active: ActiveRequests

    init(_ row: Int, of active: ActiveRequests) { (self.row, self.active) = (row, active) }

    func taskHasEnded(_ task: HTTPTask, with result: HTTPResult) { active.end(row) }
}
