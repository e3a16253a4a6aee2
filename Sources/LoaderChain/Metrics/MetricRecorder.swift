import LoaderChainPlatformFoundation

/// Hands measurements to sinks, and records events and traces as well as requests.
///
/// ```swift
/// let board = MetricBoard()
/// let metrics = MetricRecorder(board, ClosureSink { print($0) })
/// let chain = MetricsTap(metrics) --> terminal
///
/// metrics.event("cart opened", counters: ["items": 3])
/// let trace = metrics.startTrace("checkout")
/// trace.increment("steps")
/// trace.set("payment", to: "card")
/// trace.stop()
/// print(chain)
/// ```
///
/// Any number of taps may share a recorder. Without sinks nothing is measured, at no cost.
///
/// **What a sink costs a request.** Only an entry in a queue: each sink has a queue of its own, of a fixed length, and is
/// called from there. A sink that is slow, or never returns, loses its own oldest records, which are counted; it delays neither
/// requests nor other sinks. Only sinks that ask for it are called at once; see ``MetricSink/isImmediate``.
public final class MetricRecorder: Sendable {
    /// The share of all requests, events and traces that is recorded, from 0 to 1.
    public let samplingRate: Double
    let timers: any Timers
    /// Whether there is a sink.
    let isListening: Bool
    private let random: RandomSource
    private let filter: (@Sendable (MetricRecord) -> Bool)?
    /// The boards, which read from a result the little that they count: to make a metric takes longer than to count a request.
    private let boards: [MetricBoard]
    private let immediate: [any MetricSink]
    private let queues: [SinkQueue]

    /// Makes a recorder.
    ///
    /// - Parameters:
    ///   - sinks: the receivers of the records.
    ///   - samplingRate: the share of all requests, events and traces that is recorded. The sample is drawn when they
    ///     begin, so that the others cost next to nothing, and each record has the rate.
    ///   - capacity: the number of records that may wait for one sink; beyond that, the oldest are dropped.
    ///   - filter: decides which records are handed on. It is called on the thread that measured, under no lock.
    ///   - random: draws the sample.
    ///   - timers: the clocks.
    public convenience init(
        _ sinks: any MetricSink..., samplingRate: Double = 1, capacity: Int = 1_000,
        random: RandomSource = .system, timers: any Timers = SystemTimers.shared,
        filter: (@Sendable (MetricRecord) -> Bool)? = nil
    ) {
        self.init(
            to: sinks, samplingRate: samplingRate, capacity: capacity, random: random, timers: timers, filter: filter)
    }

    /// Makes a recorder whose sinks are known only when the program runs.
    public init(
        to sinks: [any MetricSink], samplingRate: Double = 1, capacity: Int = 1_000,
        random: RandomSource = .system, timers: any Timers = SystemTimers.shared,
        filter: (@Sendable (MetricRecord) -> Bool)? = nil
    ) {
        // NaN cannot be meant, so everything is recorded.
        self.samplingRate = samplingRate.isNaN ? 1 : min(max(0, samplingRate), 1)
        self.random = random
        self.timers = timers
        self.filter = filter
        // A filter looks at metrics.
        boards = filter == nil ? sinks.compactMap { $0 as? MetricBoard } : []
        immediate = sinks.filter { $0.isImmediate && (filter != nil || !($0 is MetricBoard)) }
        queues = sinks.filter { !$0.isImmediate }.map { SinkQueue($0, capacity: capacity) }
        isListening = !sinks.isEmpty
    }

    /// The number of records that were dropped because a sink did not keep up.
    public var dropped: Int { queues.reduce(0) { $0 + $1.dropped } }

    /// Waits until the sinks have taken every record that was made before, or until the Swift task is cancelled.
    public func flush() async {
        for queue in queues { await queue.flush() }
    }

    // MARK: Measuring

    /// Records an event.
    ///
    /// - Parameters:
    ///   - name: the name, from a small fixed set.
    ///   - counters: values to add up, by name.
    ///   - attributes: values to group by, by name.
    public func event(_ name: String, counters: [String: Int64] = [:], attributes: [String: String] = [:]) {
        guard isListening, drawSample() else { return }
        emit(
            .event(
                MetricEvent(
                    name: name, date: timers.date, counters: counters, attributes: attributes,
                    samplingRate: samplingRate)))
    }

    /// Starts a trace of something that takes time, which is recorded when it is stopped.
    ///
    /// - Parameters:
    ///   - name: the name, from a small fixed set.
    ///   - attributes: values to group by, by name; you can set more before the end.
    public func startTrace(_ name: String, attributes: [String: String] = [:]) -> RunningTrace {
        RunningTrace(name, attributes: attributes, isRecorded: isListening && drawSample(), by: self)
    }

    /// Traces `body`, also if it throws: the attribute `error.type` then has the type of the error.
    ///
    /// - Parameters:
    ///   - name: the name, from a small fixed set.
    ///   - attributes: values to group by, by name.
    ///   - isolation: the actor to run on, the caller's by default.
    ///   - body: the work to trace; it receives the trace, to count and to set attributes.
    public func trace<Value>(
        _ name: String, attributes: [String: String] = [:], isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningTrace) async throws -> Value
    ) async rethrows -> Value {
        let trace = startTrace(name, attributes: attributes)
        defer { trace.stop() }
        do {
            return try await body(trace)
        } catch {
            trace.set("error.type", to: (error as? HTTPError)?.code.rawValue ?? "\(type(of: error))")
            throw error
        }
    }

    // MARK: For taps and traces

    /// Draws whether a measurement that begins now is recorded.
    func drawSample() -> Bool { samplingRate >= 1 || random.chance(samplingRate) }

    func emit(_ result: HTTPResult, duration: Duration, metric: () -> HTTPMetric) {
        for board in boards { board.record(result, duration: duration) }
        if !immediate.isEmpty || !queues.isEmpty { emit(.request(metric())) }
    }

    func emit(_ record: MetricRecord) {
        if let filter, !filter(record) { return }
        for sink in immediate { sink.record(record) }
        for queue in queues { queue.take(record) }
    }
}

/// A trace that has been started; any thread may use it.
///
/// It has up to 32 counters and 32 attributes; further ones are ignored. Nothing changes it after ``stop()``. A trace that is
/// released without being stopped leaves no record.
public final class RunningTrace: Sendable {
    /// The number of counters, and of attributes, that a trace may have.
    static let maximumNumberOfValues = 32

    /// The name.
    public let name: String
    private let recorder: MetricRecorder
    private let beginning: TimerInstant
    /// Nil after the stop, and for a trace that is not in the sample.
    private let trace: Locked<MetricTrace?>

    fileprivate init(_ name: String, attributes: [String: String], isRecorded: Bool, by recorder: MetricRecorder) {
        self.name = name
        self.recorder = recorder
        beginning = recorder.timers.now
        let attributes = attributes.count <= Self.maximumNumberOfValues ? attributes : Self.cut(attributes)
        trace = Locked(
            isRecorded
                ? MetricTrace(
                    name: name, start: recorder.timers.date, duration: .zero, attributes: attributes,
                    samplingRate: recorder.samplingRate) : nil)
    }

    /// Adds to the counter of that name, which begins at 0 and saturates.
    public func increment(_ counter: String, by amount: Int64 = 1) {
        trace.withLock { trace in
            let count = trace?.counters[counter]
            guard count != nil || trace?.counters.count ?? .max < Self.maximumNumberOfValues else { return }
            trace?.counters[counter] = (count ?? 0).addingClamped(amount)
        }
    }

    /// Sets an attribute, or removes it with nil.
    public func set(_ attribute: String, to value: String?) {
        trace.withLock { trace in
            let attributes = trace?.attributes ?? [:]
            guard value == nil || attributes[attribute] != nil || attributes.count < Self.maximumNumberOfValues else {
                return
            }
            trace?.attributes[attribute] = value
        }
    }

    /// Stops the trace and hands it to the sinks.
    ///
    /// - Returns: whether this was the first stop of a trace that is recorded.
    @discardableResult
    public func stop() -> Bool {
        let end = recorder.timers.now
        guard var stopped = trace.withLock({ replace(&$0, with: nil) }) else { return false }
        stopped.duration = beginning.duration(to: end)
        recorder.emit(.trace(stopped))
        return true
    }

    private static func cut(_ attributes: [String: String]) -> [String: String] {
        let kept = attributes.sorted { $0.key < $1.key }.prefix(maximumNumberOfValues)
        return Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
