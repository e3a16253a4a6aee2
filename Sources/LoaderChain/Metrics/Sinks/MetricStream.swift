import Synchronization

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
    /// What is read.
    public typealias Element = MetricRecord

    private let stream: AsyncStream<MetricRecord>
    private let continuation: AsyncStream<MetricRecord>.Continuation
    private let drops = Atomic(0)

    /// Makes a stream in which `capacity` records may wait, at least one.
    public init(capacity: Int = 1_000) {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Swift.max(1, capacity)))
    }

    deinit { continuation.finish() }

    /// True: recording never waits, so it needs no queue.
    public var isImmediate: Bool { true }

    /// How many records were dropped because they were not read in time.
    public var dropped: Int { drops.load(ordering: .relaxed) }

    /// Keeps a record until it is read.
    public func record(_ record: MetricRecord) {
        if case .dropped = continuation.yield(record) { drops.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Ends the stream after the records that wait.
    public func finish() { continuation.finish() }

    /// Reads the records.
    public func makeAsyncIterator() -> AsyncStream<MetricRecord>.Iterator { stream.makeAsyncIterator() }
}
