import LoaderChainPlatformFoundation

/// A trace that has been started; any thread may use it.
///
/// Nothing changes it after ``stop()``. A trace that is released without being stopped leaves no record.
public final class RunningTrace: Sendable {
    /// How many counters and how many attributes a trace may have; further ones are ignored.
    public static let maximumNumberOfValues = 32

    /// The name.
    public let name: String
    private let recorder: MetricRecorder
    private let beginning: TimerInstant
    /// Nil after the stop, and for a trace that is not in the sample.
    private let trace: Locked<MetricTrace?>

    init(_ name: String, attributes: [String: String], isRecorded: Bool, by recorder: MetricRecorder) {
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
            guard let count = trace?.counters[counter] ?? Self.first(in: trace?.counters) else { return }
            let (sum, isOverflow) = count.addingReportingOverflow(amount)
            trace?.counters[counter] = isOverflow ? (amount < 0 ? .min : .max) : sum
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

    /// The start of a new counter; nil where there may be no more.
    private static func first(in counters: [String: Int64]?) -> Int64? {
        counters.map(\.count) ?? .max < maximumNumberOfValues ? 0 : nil
    }

    private static func cut(_ attributes: [String: String]) -> [String: String] {
        let kept = attributes.sorted { $0.key < $1.key }.prefix(maximumNumberOfValues)
        return Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
