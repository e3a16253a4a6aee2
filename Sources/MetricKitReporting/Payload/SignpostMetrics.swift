/// What the app measured itself, by signposts.
public struct SignpostMetrics: Sendable, Hashable {
    /// The category of the signpost.
    public var category: String?
    /// The name of the signpost.
    public var name: String?
    /// How often it was set.
    public var count: Int?
    /// How long its intervals took.
    public var durations: Histogram<Duration>?
    /// What the processor did in them.
    public var cpuTime: Duration?
    /// The average of the memory in them, in bytes.
    public var averageMemoryBytes: Double?
    /// What was written in them, in bytes.
    public var logicalWriteBytes: Double?
    /// How many milliseconds of hitches there were in each second of them.
    public var hitchMillisecondsPerSecond: Double?

    /// Knows nothing yet.
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
