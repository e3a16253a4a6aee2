/// What the app measured with a signpost.
public struct SignpostMetrics: Sendable, Hashable {
    /// The category of the signpost.
    public var category: String?
    /// The name of the signpost.
    public var name: String?
    /// How often it was emitted.
    public var count: Int?
    /// The durations of its intervals.
    public var durations: Histogram<Duration>?
    /// The CPU time in its intervals.
    public var cpuTime: Duration?
    /// The average memory in its intervals, in bytes.
    public var averageMemoryBytes: Double?
    /// The logical writes in its intervals, in bytes.
    public var logicalWriteBytes: Double?
    /// The hitch time in its intervals, in milliseconds per second.
    public var hitchMillisecondsPerSecond: Double?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        category = reader.text("signpostCategory")
        name = reader.text("signpostName")
        count = reader.count("totalSignpostCount")
        _ = reader.section("signpostIntervalData") { reader in
            durations = reader.histogram("histogrammedSignpostDurations", "histogrammedSignpostDuration")
            cpuTime = reader.time("signpostCumulativeCPUTime", "cumulativeCPUTime")
            averageMemoryBytes = reader.number(.bytes, "signpostAverageMemory", "averageMemory")
            logicalWriteBytes = reader.number(.bytes, "signpostCumulativeLogicalWrites", "cumulativeLogicalWrites")
            hitchMillisecondsPerSecond = reader.number(
                .hitchRatio, "signpostCumulativeHitchTimeRatio", "cumulativeHitchTimeRatio")
        }
    }
}
