import Dispatch

/// Delivers records to one sink, on a queue of its own.
///
/// A thread that adds a record waits at most for a lock that is held to append it, never for the sink.
final class SinkQueue: Sendable {
    private let sink: any MetricSink
    private let queue = DispatchQueue(label: "LoaderChain.MetricSink")
    private let state: Locked<SinkQueueState<MetricRecord, CheckedContinuation<Void, Never>>>

    init(_ sink: any MetricSink, capacity: Int) {
        self.sink = sink
        state = Locked(SinkQueueState(capacity: capacity))
    }

    var dropped: Int { state.withLock { $0.dropped } }

    func take(_ record: MetricRecord) {
        // A record holds no user object, so a dropped one may end under the lock.
        if state.withLock({ $0.offer(record) }) { queue.async { self.deliver() } }
    }

    /// Waits until the sink has taken every record that was added before.
    func flush() async {
        await withCheckedContinuation { continuation in
            if state.withLock({ $0.flush(continuation) }) { continuation.resume() }
        }
    }

    private func deliver() {
        while true {
            let round = state.withLock { $0.next() }
            for waiter in round.flushed { waiter.resume() }
            guard !round.batch.isEmpty else { return }
            for record in round.batch { sink.record(record) }
        }
    }
}

/// The records that wait for one sink, decided without threads or queues.
///
/// The phases:
/// - **idle**: nothing waits, and nothing is being delivered.
/// - **delivering**: one batch after the other goes to the sink, until nothing waits any more.
///
/// Records are numbered in the order in which they come. A record is settled when the sink has returned from it, or
/// when it was dropped.
struct SinkQueueState<Record, Waiter> {
    private let capacity: Int
    /// The records that wait: a ring once it is full, whose oldest is at `oldest`.
    private var waiting: [Record] = []
    private var oldest = 0
    private var isDelivering = false
    private var offered: UInt64 = 0
    private var waiters: [(waiter: Waiter, target: UInt64)] = []
    private(set) var dropped = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Takes a record, and drops the oldest where there is no room.
    ///
    /// - Returns: whether the caller has to start a delivery.
    mutating func offer(_ record: Record) -> Bool {
        offered += 1
        if waiting.count < capacity {
            waiting.append(record)
        } else {
            waiting[oldest] = record
            oldest = oldest + 1 == capacity ? 0 : oldest + 1
            dropped += 1
        }
        defer { isDelivering = true }
        return !isDelivering
    }

    /// The next step of a delivery.
    struct Round {
        /// The next records in order; if there are none, the delivery ends.
        var batch: [Record]
        /// The waiters whose records have been settled.
        var flushed: [Waiter]
    }

    /// Takes all records that wait, after the previous batch was delivered.
    mutating func next() -> Round {
        let settled = offered - UInt64(waiting.count)
        var flushed: [Waiter] = []
        while let first = waiters.first, first.target <= settled { flushed.append(waiters.removeFirst().waiter) }
        let ring = replace(&waiting, with: [])
        let batch = oldest == 0 ? ring : Array(ring[oldest...] + ring[..<oldest])
        oldest = 0
        isDelivering = !batch.isEmpty
        return Round(batch: batch, flushed: flushed)
    }

    /// Keeps `waiter` until all records are settled that have come by now.
    ///
    /// - Returns: whether they are settled already; otherwise `waiter` is returned by ``next()`` when they are.
    mutating func flush(_ waiter: Waiter) -> Bool {
        guard isDelivering else { return true }
        waiters.append((waiter, offered))
        return false
    }
}
