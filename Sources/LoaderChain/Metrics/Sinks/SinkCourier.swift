import Dispatch

/// Brings records to one sink, on a queue of its own.
///
/// Whoever brings a record waits for a lock that is only ever held to put it down, and never for the sink.
final class SinkCourier: Sendable {
    private let sink: any MetricSink
    private let queue = DispatchQueue(label: "LoaderChain.MetricSink")
    private let state: Guarded<CourierState<MetricRecord, CheckedContinuation<Void, Never>>>

    init(_ sink: any MetricSink, capacity: Int) {
        self.sink = sink
        state = Guarded(CourierState(capacity: capacity))
    }

    var dropped: Int { state.withLock { $0.dropped } }

    func take(_ record: MetricRecord) {
        // It holds nothing of a user's, so what is dropped may end under the lock.
        if state.withLock({ $0.offer(record) }) { queue.async { self.deliver() } }
    }

    /// Waits until the sink has taken every record that was brought before.
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
