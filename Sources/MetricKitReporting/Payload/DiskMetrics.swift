// Payload: payloads of metrics and their sections. Depends on Reading and the folders before it; Diagnostics and
// later folders may use it.

/// What the app wrote.
public struct DiskIOMetrics: Sendable, Hashable {
    /// Everything that was written, in bytes.
    public var logicalWriteBytes: Double?

    /// Knows nothing yet.
    public init() {}

    init(_ reader: inout SectionReader) { logicalWriteBytes = reader.number(.bytes, "cumulativeLogicalWrites") }
}

/// What the app's files take of the disk.
public struct DiskSpaceUsageMetrics: Sendable, Hashable {
    /// The binary files, in bytes.
    public var binaryFileBytes: Double?
    /// How many binary files there are.
    public var binaryFileCount: Int?
    /// The files of data, in bytes.
    public var dataFileBytes: Double?
    /// How many files of data there are.
    public var dataFileCount: Int?
    /// The folder of caches, in bytes.
    public var cacheFolderBytes: Double?
    /// What is shared with copies, in bytes.
    public var cloneBytes: Double?
    /// Everything, in bytes.
    public var usedBytes: Double?
    /// The whole disk, in bytes.
    public var capacityBytes: Double?

    /// Knows nothing yet.
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
