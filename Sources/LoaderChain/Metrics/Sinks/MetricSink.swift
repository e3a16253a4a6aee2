/// Takes what is measured somewhere: into a store, a log, a test.
///
/// **How to choose one.** A ``MetricBoard`` keeps counts and percentiles in memory, a ``MetricStream`` is read with
/// `for await`, a ``ClosureSink`` calls a closure.
///
/// **How to write one.** Implement ``record(_:)``. It is called with one record after the other, in the order in which they
/// were made, on a queue that belongs to this sink alone. It may take its time: what arrives meanwhile is kept up to the
/// recorder's limit, and then the oldest is dropped and counted. No request waits for it.
///
/// A sink that only notes something down may say so by ``isImmediate``, and spare the way over the queue.
public protocol MetricSink: Sendable {
    /// Takes a record.
    func record(_ record: MetricRecord)

    /// Whether ``record(_:)`` is called at once, on the thread that has measured; false unless implemented.
    ///
    /// The request's caller hears of its end right after. So the sink returns at once, never waits, and bears calls from
    /// many threads at a time. No lock of the library is held.
    var isImmediate: Bool { get }
}

extension MetricSink {
    /// It is not.
    public var isImmediate: Bool { false }
}

/// What a sink is given.
public enum MetricRecord: Sendable {
    /// A request has ended.
    case request(HTTPMetric)
    /// Something has happened.
    case event(MetricEvent)
    /// Something that takes its time has ended.
    case trace(MetricTrace)
}

/// Calls a closure with every record, one after the other.
///
/// ```swift
/// let slow = ClosureSink { record in
///     if case .request(let metric) = record, metric.duration > .seconds(2) { print(metric.route) }
/// }
/// print(MetricsTap(slow) --> terminal)
/// ```
public struct ClosureSink: MetricSink {
    private let body: @Sendable (MetricRecord) -> Void
    /// Whether the closure is called at once, on the thread that has measured.
    public let isImmediate: Bool

    /// Makes a sink of a closure.
    ///
    /// - Parameters:
    ///   - isImmediate: whether the closure is called at once, as ``MetricSink/isImmediate`` describes it.
    ///   - body: what is called.
    public init(isImmediate: Bool = false, _ body: @escaping @Sendable (MetricRecord) -> Void) {
        self.isImmediate = isImmediate
        self.body = body
    }

    /// Calls the closure.
    public func record(_ record: MetricRecord) { body(record) }
}
