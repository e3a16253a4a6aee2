import LoaderChainPlatformFoundation

/// Receives what is measured, for a store, a log or a test.
///
/// **How to choose one.** A ``MetricBoard`` keeps counts and percentiles in memory, a ``MetricStream`` is read with
/// `for await`, a ``ClosureSink`` calls a closure.
///
/// **How to write one.** Implement ``record(_:)``. It is called with one record after another, in the order in which they were
/// made, on a queue that belongs to this sink alone. It may take its time: records that arrive meanwhile are kept up to the
/// recorder's limit; beyond it, the oldest is dropped and counted. No request waits for it.
///
/// A sink that returns at once can set ``isImmediate``, and skip the queue.
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
public enum MetricRecord: Sendable, Hashable {
    /// A request has ended.
    case request(HTTPMetric)
    /// Something has happened.
    case event(MetricEvent)
    /// Something that takes its time has ended.
    case trace(MetricTrace)
}

extension MetricRecord: CustomStringConvertible {
    /// The description of what the record is about.
    public var description: String {
        switch self {
        case .request(let metric): "\(metric)"
        case .event(let event): "\(event)"
        case .trace(let trace): "\(trace)"
        }
    }
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

/// Something that happened at one moment; see ``MetricRecorder/event(_:counters:attributes:)``.
public struct MetricEvent: Hashable, Sendable {
    /// The name, from a small fixed set.
    public var name: String
    /// The time at which it happened.
    public var date: Date
    /// Values to add up, by name.
    public var counters: [String: Int64]
    /// Values to group by, by name.
    public var attributes: [String: String]
    /// The share of all events that is recorded: one stands for `1 / samplingRate`.
    public var samplingRate: Double

    /// Makes an event, as for a test of a sink.
    public init(
        name: String, date: Date, counters: [String: Int64] = [:], attributes: [String: String] = [:],
        samplingRate: Double = 1
    ) {
        self.name = name
        self.date = date
        self.counters = counters
        self.attributes = attributes
        self.samplingRate = samplingRate
    }
}

/// Something that took time; see ``MetricRecorder/startTrace(_:attributes:)``.
public struct MetricTrace: Hashable, Sendable {
    /// The name, from a small fixed set.
    public var name: String
    /// When it started.
    public var start: Date
    /// The time until it was stopped, by a monotonic clock.
    public var duration: Duration
    /// Values that were counted, by name.
    public var counters: [String: Int64]
    /// Values to group by, by name.
    public var attributes: [String: String]
    /// The share of all traces that is recorded: one stands for `1 / samplingRate`.
    public var samplingRate: Double

    /// Makes a trace, as for a test of a sink.
    public init(
        name: String, start: Date, duration: Duration, counters: [String: Int64] = [:],
        attributes: [String: String] = [:], samplingRate: Double = 1
    ) {
        self.name = name
        self.start = start
        self.duration = duration
        self.counters = counters
        self.attributes = attributes
        self.samplingRate = samplingRate
    }
}

/// A sink to read with `for await`.
///
/// ```swift
/// let stream = MetricStream(capacity: 500)
/// let chain = MetricsTap(stream) --> terminal
/// let reader = Task {
///     for await case .request(let metric) in stream { print(metric.route, metric.duration) }
/// }
/// print(chain, reader)
/// ```
///
/// Records wait until they are read, up to a limit; beyond it, the oldest is dropped and counted. The stream is meant
/// for one reader; several share the records between them. A reader whose task is cancelled ends the stream, as
/// ``finish()`` does.
public final class MetricStream: MetricSink, AsyncSequence {
    /// A record.
    public typealias Element = MetricRecord

    private let stream: AsyncStream<MetricRecord>
    private let continuation: AsyncStream<MetricRecord>.Continuation
    private let drops = Tally()

    /// Makes a stream in which `capacity` records may wait, at least one.
    public init(capacity: Int = 1_000) {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Swift.max(1, capacity)))
    }

    deinit { continuation.finish() }

    /// True: recording never waits, so it needs no queue.
    public var isImmediate: Bool { true }

    /// The number of records that were dropped because they were not read in time.
    public var dropped: Int { drops.count }

    /// Keeps a record until it is read.
    public func record(_ record: MetricRecord) {
        if case .dropped = continuation.yield(record) { drops.increment() }
    }

    /// Ends the stream after the records that wait.
    public func finish() { continuation.finish() }

    /// Reads the records.
    public func makeAsyncIterator() -> AsyncStream<MetricRecord>.Iterator { stream.makeAsyncIterator() }
}
