/// CPU usage.
public struct CPUMetrics: Sendable, Hashable {
    /// The CPU time on all cores.
    public var time: Duration?
    /// The number of instructions.
    public var instructions: Double?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        time = reader.time("cumulativeCPUTime")
        instructions = reader.number(.instructions, "cumulativeCPUInstructions")
    }
}

/// GPU usage.
public struct GPUMetrics: Sendable, Hashable {
    /// The GPU time.
    public var time: Duration?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) { time = reader.time("cumulativeGPUTime") }
}

/// An average without a histogram.
public struct SampledAverage: Sendable, Hashable {
    /// The average; nil if there were no samples.
    public var average: Double?
    /// The standard deviation, whose unit the payload does not name; nil if there is none.
    public var standardDeviation: Double?
    /// The number of samples.
    public var sampleCount: Int?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader, _ quantity: MeasureUnit.Quantity) {
        average = reader.number(quantity, "averageValue")
        sampleCount = reader.count("sampleCount")
        // A negative number means that it is missing.
        let deviation = reader.take(["standardDeviation"]) { node, _ in node.number }
        standardDeviation = deviation.flatMap { $0.digits < 0 ? nil : $0.double }
        if sampleCount == 0 { (average, standardDeviation) = (nil, nil) }
    }
}

/// Memory usage.
public struct MemoryMetrics: Sendable, Hashable {
    /// The peak, in bytes.
    public var peakBytes: Double?
    /// The average while the app was suspended, in bytes.
    public var suspendedBytes: SampledAverage?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        peakBytes = reader.number(.bytes, "peakMemoryUsage")
        suspendedBytes = reader.section("averageSuspendedMemory") { SampledAverage(&$0, .bytes) }
    }
}

/// Display usage.
public struct DisplayMetrics: Sendable, Hashable {
    /// The average luminance of its pixels.
    public var pixelLuminance: SampledAverage?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        pixelLuminance = reader.section("averagePixelLuminance") { SampledAverage(&$0, .luminance) }
    }
}

/// Network transfers, in bytes.
public struct NetworkTransferMetrics: Sendable, Hashable {
    /// Uploads over Wi-Fi.
    public var wifiUploadBytes: Double?
    /// Downloads over Wi-Fi.
    public var wifiDownloadBytes: Double?
    /// Uploads over a mobile network.
    public var cellularUploadBytes: Double?
    /// Downloads over a mobile network.
    public var cellularDownloadBytes: Double?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        wifiUploadBytes = reader.number(.bytes, "cumulativeWifiUpload")
        wifiDownloadBytes = reader.number(.bytes, "cumulativeWifiDownload")
        cellularUploadBytes = reader.number(.bytes, "cumulativeCellularUpload")
        cellularDownloadBytes = reader.number(.bytes, "cumulativeCellularDownload")
    }
}

/// The signal of the mobile network.
public struct CellularConditionMetrics: Sendable, Hashable {
    /// The histogram of signal bars, with the counts of the payload.
    public var bars: Histogram<Double>?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        bars = reader.bars("cellConditionTime", "histogrammedCellularConditionTime")
    }
}

/// The app's disk writes.
public struct DiskIOMetrics: Sendable, Hashable {
    /// The logical writes in bytes.
    public var logicalWriteBytes: Double?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) { logicalWriteBytes = reader.number(.bytes, "cumulativeLogicalWrites") }
}

/// The disk space that the app uses.
public struct DiskSpaceUsageMetrics: Sendable, Hashable {
    /// The binary files, in bytes.
    public var binaryFileBytes: Double?
    /// The number of binary files.
    public var binaryFileCount: Int?
    /// The data files, in bytes.
    public var dataFileBytes: Double?
    /// The number of data files.
    public var dataFileCount: Int?
    /// The caches folder, in bytes.
    public var cacheFolderBytes: Double?
    /// The space shared by clones, in bytes.
    public var cloneBytes: Double?
    /// All of the app's files, in bytes.
    public var usedBytes: Double?
    /// The capacity of the disk, in bytes.
    public var capacityBytes: Double?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        binaryFileBytes = reader.number(.bytes, "totalBinaryFileSize")
        binaryFileCount = reader.count("totalBinaryFileCount")
        dataFileBytes = reader.number(.bytes, "totalDataFileSize")
        dataFileCount = reader.count("totalDataFileCount")
        cacheFolderBytes = reader.number(.bytes, "totalCacheFolderSize")
        cloneBytes = reader.number(.bytes, "totalCloneSize")
        usedBytes = reader.number(.bytes, "totalDiskSpaceUsedSize")
        capacityBytes = reader.number(.bytes, "totalDiskSpaceCapacity")
    }
}
