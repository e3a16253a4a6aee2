/// What the app asked of the processor.
public struct CPUMetrics: Sendable, Hashable {
    /// The time on all cores.
    public var time: Duration?
    /// How many instructions.
    public var instructions: Double?

    /// Knows nothing yet.
    public init() {}

    init(_ reader: inout SectionReader) {
        time = reader.time("cumulativeCPUTime")
        instructions = reader.number(.instructions, "cumulativeCPUInstructions")
    }
}

/// What the app asked of the graphics processor.
public struct GPUMetrics: Sendable, Hashable {
    /// The time.
    public var time: Duration?

    /// Knows nothing yet.
    public init() {}

    init(_ reader: inout SectionReader) { time = reader.time("cumulativeGPUTime") }
}

/// An average of which the payload has no histogram.
public struct SampledAverage: Sendable, Hashable {
    /// The average; nil if there was nothing to average.
    public var average: Double?
    /// The deviation as the payload has it, which names no unit; nil if there is none.
    public var standardDeviation: Double?
    /// How many samples there were.
    public var sampleCount: Int?

    /// Knows nothing yet.
    public init() {}

    init(_ reader: inout SectionReader, _ quantity: UnitWord.Quantity) {
        average = reader.number(quantity, "averageValue")
        sampleCount = reader.count("sampleCount")
        // Less than zero says that there is none.
        let deviation = reader.take(["standardDeviation"]) { node, _ in node.number }
        standardDeviation = deviation.flatMap { $0.digits < 0 ? nil : $0.double }
        if sampleCount == 0 { (average, standardDeviation) = (nil, nil) }
    }
}

/// What the app took of the memory.
public struct MemoryMetrics: Sendable, Hashable {
    /// The most at any time, in bytes.
    public var peakBytes: Double?
    /// The average when the app was suspended, in bytes.
    public var suspendedBytes: SampledAverage?

    /// Knows nothing yet.
    public init() {}

    init(_ reader: inout SectionReader) {
        peakBytes = reader.number(.bytes, "peakMemoryUsage")
        suspendedBytes = reader.section("averageSuspendedMemory") { SampledAverage(&$0, .bytes) }
    }
}

/// How bright the app is.
public struct DisplayMetrics: Sendable, Hashable {
    /// The average luminance of its pixels.
    public var pixelLuminance: SampledAverage?

    /// Knows nothing yet.
    public init() {}

    init(_ reader: inout SectionReader) {
        pixelLuminance = reader.section("averagePixelLuminance") { SampledAverage(&$0, .luminance) }
    }
}

/// What went over the network, in bytes.
public struct NetworkTransferMetrics: Sendable, Hashable {
    /// Up, over Wi-Fi.
    public var wifiUploadBytes: Double?
    /// Down, over Wi-Fi.
    public var wifiDownloadBytes: Double?
    /// Up, over a mobile network.
    public var cellularUploadBytes: Double?
    /// Down, over a mobile network.
    public var cellularDownloadBytes: Double?

    /// Knows nothing yet.
    public init() {}

    init(_ reader: inout SectionReader) {
        wifiUploadBytes = reader.number(.bytes, "cumulativeWifiUpload")
        wifiDownloadBytes = reader.number(.bytes, "cumulativeWifiDownload")
        cellularUploadBytes = reader.number(.bytes, "cumulativeCellularUpload")
        cellularDownloadBytes = reader.number(.bytes, "cumulativeCellularDownload")
    }
}

/// How good the mobile network was.
public struct CellularConditionMetrics: Sendable, Hashable {
    /// For how long there were how many bars; the counts are as the payload has them.
    public var bars: Histogram<Double>?

    /// Knows nothing yet.
    public init() {}

    init(_ reader: inout SectionReader) {
        bars = reader.take(["cellConditionTime", "histogrammedCellularConditionTime"]) {
            [context = reader.context] node, _ in
            HistogramReading(node)?.histogram { context.amount($0, .bars)?.double }
        }
    }
}
