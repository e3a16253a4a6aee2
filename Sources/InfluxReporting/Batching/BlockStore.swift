import DurableFiles
import LineProtocol

/// Where blocks come from, and where they are kept: in memory, or in files.
protocol BlockStore: Sendable {
    /// Whether blocks have files.
    var isDurable: Bool { get }

    /// Makes a block that fills some memory.
    func make(_ memory: HeapMemory, points: Int) throws(FileFailure) -> LineBlock

    /// Reads the lines of a block that is not in memory, and how many bytes of it are damaged.
    ///
    /// - Parameter points: how many lines it had. With fewer, its file is kept when it is removed, for its owner to inspect.
    func read(_ file: BlockFile, points: Int) throws(FileFailure) -> (lines: LineBatch, damagedBytes: Int)

    /// Forgets blocks whose lines are settled.
    func remove(_ files: [BlockFile]) throws(FileFailure)

    /// Flushes a block's file to the disk.
    func sync(_ file: BlockFile) throws(FileFailure)

    /// Flushes the names of the files to the disk.
    func syncFolder() throws(FileFailure)

    /// Leaves everything to the next writer.
    func close()
}

/// Blocks in memory, gone with the process.
struct MemoryStore: BlockStore {
    var isDurable: Bool { false }

    func make(_ memory: HeapMemory, points: Int) -> LineBlock { LineBlock(memory, maximumPoints: points) }

    func read(_ file: BlockFile, points: Int) -> (lines: LineBatch, damagedBytes: Int) {
        (LineBatch(precision: file.precision), 0)
    }
    func remove(_ files: [BlockFile]) {}
    func sync(_ file: BlockFile) {}
    func syncFolder() {}
    func close() {}
}
