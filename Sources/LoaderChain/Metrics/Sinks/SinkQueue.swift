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
