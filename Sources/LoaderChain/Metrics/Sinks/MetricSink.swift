// Metrics/Sinks: where records go, and the queue that keeps a slow sink from delaying a request. It may use Records.

/// Receives what is measured, for a store, a log or a test.
///
/// **How to choose one.** A ``MetricBoard`` keeps counts and percentiles in memory, a ``MetricStream`` is read with
/// `for await`, a ``ClosureSink`` calls a closure.
///
/// **How to write one.** Implement ``record(_:)``. It is called with one record after the other, in the order in which
/// they were made, on a queue that belongs to this sink alone. It may take its time: records that arrive meanwhile are
/// kept up to the recorder's limit; beyond it, the oldest is dropped and counted. No request waits for it.
///
/// A sink that returns at once can set ``isImmediate``, and save the way over the queue.
public protocol MetricSink: Sendable {
    /// Receives a record.
    func record(_ record: MetricRecord)

    /// Whether ``record(_:)`` is called at once, on the thread that measured; by default false.
    ///
    /// The caller of the request learns its result right after. An immediate sink therefore returns at once, never
    /// waits, and accepts calls from many threads at a time. No lock of the library is held.
    var isImmediate: Bool { get }
}

extension MetricSink {
    /// False: the sink gets a queue.
    public var isImmediate: Bool { false }
}

/// A measurement that a sink receives.
public enum MetricRecord: Sendable {
    /// A request has ended.
    case request(HTTPMetric)
    /// Something has happened.
    case event(MetricEvent)
    /// Something that takes its time has ended.
    case trace(MetricTrace)
}

/// A sink that calls a closure with every record, one after the other.
///
/// ```swift
/// let slow = ClosureSink { record in
///     if case .request(let metric) = record, metric.duration > .seconds(2) { print(metric.route) }
/// }
/// print(MetricsTap(slow) --> terminal)
/// ```
public struct ClosureSink: MetricSink {
    private let body: @Sendable (MetricRecord) -> Void
    /// Whether the closure is called at once, on the thread that measured.
    public let isImmediate: Bool

    /// Makes a sink of a closure.
    ///
    /// - Parameters:
    ///   - isImmediate: whether the closure is called at once, as ``MetricSink/isImmediate`` describes it.
    ///   - body: the closure.
    public init(isImmediate: Bool = false, _ body: @escaping @Sendable (MetricRecord) -> Void) {
        self.isImmediate = isImmediate
        self.body = body
    }

    /// Calls the closure.
    public func record(_ record: MetricRecord) { body(record) }
}
