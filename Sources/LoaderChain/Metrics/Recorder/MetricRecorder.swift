/// Hands what is measured to sinks, and takes measurements beside those of requests.
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
/// Any number of taps may share one. Without sinks nothing is measured, and nothing is paid for.
///
/// **What a sink costs a request.** Nothing but its place in a queue: each sink has its own, of a fixed length, and is
/// called from there. A sink that is slow, or never returns, loses its own oldest records, which are counted, and delays
/// neither a request nor another sink. Only sinks that say so themselves are called at once; see
/// ``MetricSink/isImmediate``.
public final class MetricRecorder: Sendable {
    /// The part of all requests, events and traces that is recorded, from 0 to 1.
    public let samplingRate: Double
    let timers: any Timers
    private let dice: Dice
    private let filter: (@Sendable (MetricRecord) -> Bool)?
    private let immediate: [any MetricSink]
    private let couriers: [SinkCourier]

    /// Makes a recorder.
    ///
    /// - Parameters:
    ///   - sinks: who is handed the records.
    ///   - samplingRate: the part of all requests, events and traces that is recorded. It is chosen when they begin, so
    ///     that the others cost next to nothing, and each record tells the rate.
    ///   - capacity: how many records may wait for one sink; then the oldest are dropped.
    ///   - filter: which records are handed on. It is called on the thread that has measured, under no lock.
    ///   - dice: what chooses by the sampling rate.
    ///   - timers: the clocks.
    public init(
        _ sinks: any MetricSink..., samplingRate: Double = 1, capacity: Int = 1_000,
        dice: Dice = .system, timers: any Timers = SystemTimers.shared,
        filter: (@Sendable (MetricRecord) -> Bool)? = nil
    ) {
        // What is no number is no rate that anybody wanted.
        self.samplingRate = samplingRate.isNaN ? 1 : min(max(0, samplingRate), 1)
        self.dice = dice
        self.timers = timers
        self.filter = filter
        immediate = sinks.filter(\.isImmediate)
        couriers = sinks.filter { !$0.isImmediate }.map { SinkCourier($0, capacity: capacity) }
        isListening = !sinks.isEmpty
        onlyBoard = sinks.count == 1 && filter == nil ? sinks[0] as? MetricBoard : nil
    }

    /// How many records were dropped because a sink did not keep up.
    public var dropped: Int { couriers.reduce(0) { $0 + $1.dropped } }

    /// Waits until the sinks have taken every record that was made before.
    public func flush() async {
        for courier in couriers { await courier.flush() }
    }

    // MARK: Measuring

    /// Records that something has happened.
    ///
    /// - Parameters:
    ///   - name: what it is called, one of a few.
    ///   - counters: what can be added up, by name.
    ///   - attributes: what it can be told apart by.
    public func event(_ name: String, counters: [String: Int64] = [:], attributes: [String: String] = [:]) {
        guard isListening, chooses() else { return }
        emit(
            .event(
                MetricEvent(
                    name: name, date: timers.date, counters: counters, attributes: attributes,
                    samplingRate: samplingRate)))
    }

    /// Starts a trace of something that takes its time, which is recorded when it is stopped.
    ///
    /// - Parameters:
    ///   - name: what it is called, one of a few.
    ///   - attributes: what it can be told apart by; more can be set on the way.
    public func startTrace(_ name: String, attributes: [String: String] = [:]) -> RunningTrace {
        RunningTrace(name, attributes: attributes, isRecorded: isListening && chooses(), by: self)
    }

    /// Traces what `body` does, also if it throws: then the attribute `error.type` tells the type of the error.
    ///
    /// - Parameters:
    ///   - name: what it is called, one of a few.
    ///   - attributes: what it can be told apart by.
    ///   - isolation: where it is done: where the caller is.
    ///   - body: what is traced; it is handed the trace, to count and to set attributes.
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

    /// Whether anybody takes what is measured.
    let isListening: Bool

    /// The only sink, if it is a board and nobody filters.
    let onlyBoard: MetricBoard?

    /// Whether what begins now is among those that are recorded.
    func chooses() -> Bool { samplingRate >= 1 || dice.chance(samplingRate) }

    func emit(_ record: MetricRecord) {
        if let filter, !filter(record) { return }
        for sink in immediate { sink.record(record) }
        for courier in couriers { courier.take(record) }
    }
}
