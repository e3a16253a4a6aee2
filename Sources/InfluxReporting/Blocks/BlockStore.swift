import DurableFiles
import LineProtocol
import LoaderChain

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

    /// Forgets blocks whose lines are settled, and returns the names of damaged files that went because there are newer ones.
    func remove(_ files: [BlockFile]) throws(FileFailure) -> [String]

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
    func remove(_ files: [BlockFile]) -> [String] { [] }
    func sync(_ file: BlockFile) {}
    func syncFolder() {}
    func close() {}
}

/// The file of a block: its name, which says all that is needed to read it.
struct BlockFile: Sendable, Hashable {
    /// Its place in the order.
    let number: UInt64
    /// The unit of the timestamps in it.
    let precision: Precision
    /// What its frames are salted with.
    let salt: UInt64

    static let suffix = ".lines"

    /// The name, such as `000000000000002a-nanoseconds-00000000009f3a5c.lines`.
    var name: String {
        "\(Hexadecimal.text(number))-\(precision.rawValue)-\(Hexadecimal.text(salt))\(Self.suffix)"
    }

    init(number: UInt64, precision: Precision, salt: UInt64) {
        self.number = number
        self.precision = precision
        self.salt = salt
    }

    /// The file of a name; nil if this type makes no such name.
    init?(_ name: String) {
        guard name.hasSuffix(Self.suffix) else { return nil }
        let parts = name.dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let number = Hexadecimal.value(of: parts[0].utf8),
            let precision = Precision(rawValue: String(parts[1])), let salt = Hexadecimal.value(of: parts[2].utf8)
        else { return nil }
        self.init(number: number, precision: precision, salt: salt)
        // One that is spelled otherwise could not be found again.
        guard self.name == name else { return nil }
    }
}
