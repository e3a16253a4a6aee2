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
        if state.withLock({ $0.append(record) }) { queue.async { self.deliver { $0.beginDelivery() } } }
    }

    /// Waits until the sink has taken every record that was added before, or until the Swift task is cancelled.
    ///
    /// Deliveries come one after the other, so those before have ended, and this one has what they have left.
    func flush() async {
        let hasEnded = Awaited(false)
        queue.async {
            self.deliver { $0.takeAll() }
            hasEnded.change { $0 = true }
        }
        await hasEnded.wait(until: \.self)
    }

    private func deliver(_ take: (inout NewestRecords<MetricRecord>) -> [MetricRecord]) {
        for record in state.withLock(take) { sink.record(record) }
    }
}

/// The records that wait for one sink, the newest of them in a bounded number.
struct NewestRecords<Record> {
    private let capacity: Int
    /// A ring once it is full, whose oldest record is at `oldest`.
    private var waiting: [Record] = []
    private var oldest = 0
    private var hasDelivery = false
    private(set) var dropped = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Takes a record, and drops the oldest if the queue is full; returns whether the caller has to order a delivery that takes it.
    mutating func append(_ record: Record) -> Bool {
        if waiting.count < capacity {
            waiting.append(record)
        } else {
            waiting[oldest] = record
            oldest = oldest + 1 == capacity ? 0 : oldest + 1
            dropped += 1
        }
        return !replace(&hasDelivery, with: true)
    }

    /// Takes all records for the delivery that was ordered; the next record orders another one.
    mutating func beginDelivery() -> [Record] {
        hasDelivery = false
        return takeAll()
    }

    mutating func takeAll() -> [Record] {
        let ring = replace(&waiting, with: [])
        let start = replace(&oldest, with: 0)
        return start == 0 ? ring : Array(ring[start...] + ring[..<start])
    }
}
