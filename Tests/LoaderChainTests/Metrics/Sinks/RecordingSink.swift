import LoaderChainTesting

@testable import LoaderChain

/// Keeps what it is given, at once.
final class RecordingSink: MetricSink {
    private let kept = Locked<[MetricRecord]>([])
    let log = EventLog()
    let isImmediate: Bool

    init(isImmediate: Bool = true) { self.isImmediate = isImmediate }

    func record(_ record: MetricRecord) {
        kept.withLock { $0.append(record) }
        log.note("record")
    }

    var records: [MetricRecord] { kept.withLock { $0 } }

    var metrics: [HTTPMetric] {
        records.compactMap { if case .request(let metric) = $0 { metric } else { nil } }
    }
}
