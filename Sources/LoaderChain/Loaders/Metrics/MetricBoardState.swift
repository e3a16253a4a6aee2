#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The rows of a board: what is known of each route of a host, in a bounded number.
///
/// The rows that came first stay. Those beyond the limit are one row together, so that a program which names its routes too
/// freely loses detail and no memory.
struct MetricBoardState {
    private struct Row {
        let key: [UInt8]
        let hash: UInt64
        var summary = MetricSummary()
        var recent: SlidingWindow<Int>

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
    private var rows: [Row] = []
    /// The row at each place, by hash; a row lies at its place, or behind it with no free place in between.
    private var places: [Int]
    private var overflow: Row?

    private static var free: Int { -1 }

    init(limit: Int, window: Duration) {
        // There is a free place always, and most rows lie where they belong.
        let mostRows = 1 << 20
        self.limit = min(max(0, limit), mostRows)
        self.window = max(.milliseconds(1), window)
        places = Array(repeating: Self.free, count: Self.smallest)
    }

    private static var smallest: Int { 16 }

    /// Counts a request that took so long and ended at `now`.
    mutating func count(
        _ kind: HTTPMetric.Outcome.Kind, nanoseconds: Int64, for key: borrowing RowKey, at now: TimerInstant
    ) {
        let place = place(of: key)
        let row = places[place]
        if row != Self.free {
            rows[row].count(kind, nanoseconds: nanoseconds, at: now)
        } else if rows.count < limit {
            places[place] = rows.count
            rows.append(Row(key: Array(key.bytes), hash: key.hash, recent: SlidingWindow(window)))
            rows[rows.count - 1].count(kind, nanoseconds: nanoseconds, at: now)
            if rows.count * 2 > places.count { growPlaces() }
        } else {
            if overflow == nil { overflow = Row(key: [], hash: 0, recent: SlidingWindow(window)) }
            overflow?.count(kind, nanoseconds: nanoseconds, at: now)
        }
    }

    /// All rows as they are at `now`, with the bytes of their keys.
    func read(at now: TimerInstant) -> [(key: [UInt8], summary: MetricSummary)] {
        rows.map { ($0.key, $0.read(at: now, per: seconds)) }
    }

    /// What the rows beyond the limit would have held; nil if there are none.
    func readOverflow(at now: TimerInstant) -> MetricSummary? { overflow?.read(at: now, per: seconds) }

    /// Forgets everything.
    mutating func removeAll() { self = MetricBoardState(limit: limit, window: window) }

    private var seconds: Double { window / .seconds(1) }

    // MARK: Places

    /// Where the row of a key is found, or the free place where it would be.
    private func place(of key: borrowing RowKey) -> Int {
        var place = Int(truncatingIfNeeded: key.hash) & (places.count - 1)
        while places[place] != Self.free, !isRow(places[place], of: key) { place = (place + 1) & (places.count - 1) }
        return place
    }

    private func isRow(_ row: Int, of key: borrowing RowKey) -> Bool {
        guard rows[row].hash == key.hash, rows[row].key.count == key.bytes.count else { return false }
        return rows[row].key.withUnsafeBytes { bytes in
            guard let left = bytes.baseAddress, let right = key.bytes.baseAddress else { return true }
            return memcmp(left, right, bytes.count) == 0
        }
    }

    private mutating func growPlaces() {
        places = Array(repeating: Self.free, count: places.count * 2)
        for index in rows.indices {
            var place = Int(truncatingIfNeeded: rows[index].hash) & (places.count - 1)
            while places[place] != Self.free { place = (place + 1) & (places.count - 1) }
            places[place] = index
        }
    }
}
