import LoaderChainPlatformFoundation

/// Something that happened at one moment; see ``MetricRecorder/event(_:counters:attributes:)``.
public struct MetricEvent: Hashable, Sendable {
    /// The name, one of a few.
    public var name: String
    /// When it happened.
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
    /// The name, one of a few.
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
