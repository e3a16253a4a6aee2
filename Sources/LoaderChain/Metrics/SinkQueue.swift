import Dispatch

/// Delivers records to one sink, on a queue of its own.
///
/// A thread that adds a record waits at most for a lock that is held to append it, never for the sink.
final class SinkQueue: Sendable {
    private let sink: any MetricSink
    private let queue = DispatchQueue(label: "LoaderChain.MetricSink")
    private let state: Locked<NewestRecords<MetricRecord>>

    init(_ sink: any MetricSink, capacity: Int) {
        self.sink = sink
        state = Locked(NewestRecords(capacity: capacity))
    }

    var dropped: Int { state.withLock { $0.dropped } }

    func take(_ record: MetricRecord) {
        // A record holds no user object, so a dropped one may end under the lock.
        if state.withLock({ $0.append(record) }) { queue.async { self.deliver() } }
    }

    /// Waits until the sink has taken every record that was added before.
    ///
    /// Deliveries come one after the other, so those before have ended, and this one has what they have left.
    func flush() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.deliver()
                continuation.resume()
            }
        }
    }

    private func deliver() {
        for record in state.withLock({ $0.takeAll() }) { sink.record(record) }
    }
}

/// The records that wait for one sink, the newest of them in a bounded number.
struct NewestRecords<Record> {
    private let capacity: Int
    /// A ring once it is full, whose oldest record is at `oldest`.
    private var waiting: [Record] = []
    private var oldest = 0
    private(set) var dropped = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Takes a record, and drops the oldest where there is no room.
    ///
    /// - Returns: whether it is the only one, so that the caller has to begin a delivery.
    mutating func append(_ record: Record) -> Bool {
        if waiting.count < capacity {
            waiting.append(record)
            return waiting.count == 1
        }
        waiting[oldest] = record
        oldest = oldest + 1 == capacity ? 0 : oldest + 1
        dropped += 1
        return false
    }

    /// Removes all records, and returns them in their order.
    mutating func takeAll() -> [Record] {
        let ring = replace(&waiting, with: [])
        let start = replace(&oldest, with: 0)
        return start == 0 ? ring : Array(ring[start...] + ring[..<start])
    }
}
