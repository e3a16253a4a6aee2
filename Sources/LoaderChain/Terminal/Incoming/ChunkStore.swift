import LoaderChainPlatformFoundation

/// A buffer between a fast writer and a slow reader: up to a megabyte in memory, and the rest in a temporary file.
///
/// The file is unlinked as soon as it is open, and truncated whenever the reader has caught up.
package struct ChunkStore {
    package static let memoryLimit = 1 << 20
    /// How much is read from the file at once.
    private static let portion = 256 << 10

    private let memoryLimit: Int
    private var chunks: ArraySlice<Data> = []
    private var bytesInMemory = 0
    private var file: TemporaryFile?
    private var readOffset: Int64 = 0
    private var writeOffset: Int64 = 0

    package init(memoryLimit: Int = Self.memoryLimit) { self.memoryLimit = memoryLimit }

    package var isEmpty: Bool { chunks.isEmpty && readOffset == writeOffset }

    package mutating func write(_ data: Data) throws(SinkError) {
        // Once something waits in the file, everything after it goes there too, to keep the order.
        if readOffset == writeOffset, bytesInMemory + data.count <= memoryLimit || chunks.isEmpty {
            chunks.append(data)
            bytesInMemory += data.count
            return
        }
        if file == nil {
            file = try TemporaryFile("chunks")
            file?.remove()
        }
        try file?.write(data, at: writeOffset)
        writeOffset += Int64(data.count)
    }

    /// The next bytes; nil if there are none yet.
    package mutating func read() throws(SinkError) -> Data? {
        if let chunk = chunks.popFirst() {
            bytesInMemory -= chunk.count
            return chunk
        }
        guard readOffset < writeOffset, let file else { return nil }
        let data = try file.read(Int(min(writeOffset - readOffset, Int64(Self.portion))), at: readOffset)
        readOffset += Int64(data.count)
        if readOffset == writeOffset {
            file.empty()
            (readOffset, writeOffset) = (0, 0)
        }
        return data
    }
}
