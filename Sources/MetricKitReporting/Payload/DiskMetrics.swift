// Payload: payloads of metrics and their sections. Depends on Reading and the folders before it; Diagnostics and
// later folders may use it.

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
