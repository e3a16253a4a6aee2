/// The measurement of one task: the only allocation that measuring costs.
///
/// It observes the task's waits and its end. The task keeps it until then; it keeps neither the task nor the tap.
final class TaskMeasurement: HTTPTaskWaitObserver {
    private let settings: MetricsTap.Settings
    private let start: TimerInstant
    private let active: ActiveRequests.Place?
    private let waits = InPlaceLocked(WaitClock())

    init(by settings: MetricsTap.Settings, active: ActiveRequests.Place?) {
        self.settings = settings
        self.active = active
        start = settings.now
    }

    func waitBegins() {
        let now = settings.now
        waits.withLock { $0.begin(at: now) }
    }

    func waitEnded() {
        let now = settings.now
        waits.withLock { $0.end(at: now) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        if let active { settings.active?.end(active) }
        let request = result.request.storage
        // A loader below may have decided that the request must not be measured.
        guard request.options[MeasurementOption.self] == .always else { return }
        let end = settings.now
        if let board = settings.board {
            board.count(
                request, result, nanoseconds: nanoseconds(until: end), at: settings.boardHasSameClock ? end : nil)
        } else {
            let waiting = waits.withLock { $0.total(at: end) }
            settings.emit(result, nanoseconds: nanoseconds(until: end), waiting: waiting)
        }
    }

    private func nanoseconds(until end: TimerInstant) -> Int64 {
        let (passed, isOverflow) = end.nanoseconds.subtractingReportingOverflow(start.nanoseconds)
        return isOverflow ? .max : max(0, passed)
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
    /// The row that a request is counted in, which stays the same when loaders below rewrite the request.
    struct Place: Sendable {
        fileprivate let row: Int
    }

    private struct Key: Hashable {
        var method: HTTPMethod
        let scheme: String
        let host: String
        let port: Int?
    }

    /// The first rows stay; what comes beyond them is counted in one more.
    private struct Table {
        var places: [Key: Int] = [:]
        var counts: [Int] = []
        var others = 0
    }

    private static let mostRows = 200
    private let table = Locked(Table())

    /// Counts a request that begins.
    func begin(_ request: HTTPRequest) -> Place {
        var key = Key(
            method: request.method, scheme: request.scheme, host: request.hostKey, port: request.portInMetrics)
        return table.withLock { table in
            var row = table.places[key]
            if row == nil {
                // Methods that are not well known share a row.
                key.method = HTTPMethod(ClientAttributes.method(key.method))
                row = table.places[key]
            }
            if let row {
                table.counts[row] += 1
                return Place(row: row)
            }
            guard table.counts.count < Self.mostRows else {
                table.others += 1
                return Place(row: Self.mostRows)
            }
            table.places[key] = table.counts.count
            table.counts.append(1)
            return Place(row: table.counts.count - 1)
        }
    }

    /// Counts a request no more.
    func end(_ place: Place) {
        table.withLock { table in
            if place.row < Self.mostRows { table.counts[place.row] -= 1 } else { table.others -= 1 }
        }
    }

    /// The rows, also those that have come down to zero.
    var readings: [LoaderReading] {
        let table = table.withLock { $0 }
        let rows = table.places.map { key, row in
            var attributes = [
                "http.request.method": key.method.rawValue, "server.address": key.host, "url.scheme": key.scheme,
            ]
            if let port = key.port { attributes["server.port"] = "\(port)" }
            return Self.reading(table.counts[row], attributes)
        }
        let others =
            table.counts.count < Self.mostRows ? [] : [Self.reading(table.others, ["otel.metric.overflow": "true"])]
        return rows.sorted { $0.description < $1.description } + others
    }

    private static func reading(_ count: Int, _ attributes: [String: String]) -> LoaderReading {
        LoaderReading(
            "http.client.active_requests", .level, count, unit: "{request}", help: "How many requests are under way",
            attributes: attributes)
    }
}
