import Foundation

/// Bytes on their way from a fast writer to a slow reader: the first megabyte in memory, what exceeds it in a file.
///
/// The file has no name, and is emptied whenever the reader has caught up.
struct ChunkStore {
    static let memoryLimit = 1 << 20
    /// How much is read from the file at once.
    private static let portion = 256 << 10

    private let memoryLimit: Int
    private var chunks: ArraySlice<Data> = []
    private var bytesInMemory = 0
    private var file: TemporaryFile?
    private var readOffset: Int64 = 0
    private var writeOffset: Int64 = 0

    init(memoryLimit: Int = Self.memoryLimit) { self.memoryLimit = memoryLimit }

    var isEmpty: Bool { chunks.isEmpty && readOffset == writeOffset }

    mutating func write(_ data: Data) throws(SinkError) {
        // Once something waits in the file, everything after it has to.
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

    /// The next bytes, or nil if there are none by now.
    mutating func read() throws(SinkError) -> Data? {
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
