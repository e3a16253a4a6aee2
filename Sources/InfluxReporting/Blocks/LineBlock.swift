import DurableFiles
import LineProtocol
import LoaderChain
import Synchronization

// Blocks: lines that are being collected, in memory and in files. It may use Sending.

/// Lines that are being collected, one after the other.
///
/// It belongs to one stripe at a time, whose lock guards it. Once it is handed in, it does not change any more.
final class LineBlock: @unchecked Sendable {
    let memory: HeapMemory
    /// The file that keeps it; nil if it ends with the process, and its frames need no checksums.
    let file: BlockFile?
    /// The open file, until the block is handed in.
    private(set) var journal: (any DurableFile)?
    private let salt: UInt64?
    let maximumPoints: Int
    private let base: UnsafeMutableRawPointer
    private let capacity: Int
    private(set) var used = 0
    private(set) var points = 0
    /// How many lines are on their way to the file.
    private let writes = Atomic(0)
    /// Whether a line did not arrive in the file.
    private let hasFailed = Atomic(false)
    /// The lines that did not arrive in the file, by their numbers.
    private let failures = Locked<[Int]>([])
    /// Whether it was handed in, so that it is complete as soon as all lines have arrived.
    private let isHandedIn = Atomic(false)
    /// Its place among the parcels, once it was handed in; behind the lock of what is shared.
    var number: UInt64 = 0
    /// Whether it was handed in and is held in memory; behind the same lock.
    var isInMemory = false
    /// Whether its room counts as that of lines in memory alone; behind the same lock.
    var isCountedAsUnsaved = false
    /// How many of its bytes were in the file when that was last flushed to the disk.
    let synchronized = Atomic(0)

    init(
        _ memory: HeapMemory, maximumPoints: Int, file: BlockFile? = nil, journal: (any DurableFile)? = nil
    ) {
        self.memory = memory
        self.maximumPoints = maximumPoints
        self.file = file
        self.journal = journal
        salt = file?.salt
        base = memory.base
        capacity = memory.capacity
    }

    /// How much of the bounded room it takes.
    var room: Int { capacity + overhead }
    /// What it takes up beside its lines, if it has so few of them that this matters.
    private var overhead = 0
    /// Whether it wastes most of its room.
    var isMostlyEmpty: Bool { used < capacity / 4 }
    /// How many bytes its lines have.
    var bytes: Int { used - points * LineFrame.headLength }
    var isEmpty: Bool { points == 0 }

    var isFull: Bool { points == maximumPoints }

    /// Takes a line in, if there is room.
    @inline(__always)
    func append(_ line: UnsafeRawBufferPointer) -> Bool {
        let length = LineFrame.length(of: line.count)
        guard length <= capacity &- used, points < maximumPoints else { return false }
        LineFrame.write(line, checksum: salt.map { LineFrame.checksum(of: line, salt: $0) } ?? 0, at: base + used)
        used &+= length
        points &+= 1
        return true
    }

    /// The frame of the line that was taken in last, which does not change any more.
    func lastFrame(of length: Int) -> (start: Int, bytes: UnsafeRawBufferPointer) {
        let count = LineFrame.length(of: length)
        return (used - count, UnsafeRawBufferPointer(start: base + (used - count), count: count))
    }

    /// Closes the file, as soon as all lines that are on their way to it have arrived; no line is taken in any more.
    func close() {
        journal = nil
        isHandedIn.store(true, ordering: .sequentiallyConsistent)
    }

    // MARK: The file

    /// Whether no line is on its way to the file.
    var isSettled: Bool { writes.load(ordering: .sequentiallyConsistent) == 0 }

    /// Whether a line did not arrive in the file.
    var isBroken: Bool { hasFailed.load(ordering: .acquiring) }

    /// Whether every line is in the file.
    var isSaved: Bool { file != nil && isSettled && !isBroken }

    /// The lines that are in no file as far as is known, of a block that was handed in.
    ///
    /// A line on its way to the file is not one of them: if it does not arrive, that will be known.
    var unsavedLines: LineSet { LineSet(file == nil ? Array(0..<points) : failures.withLock(\.self)) }

    /// Notes that the file is gone, of a block that was handed in.
    func loseFile() {
        failures.withLock { $0 = Array(0..<points) }
        hasFailed.store(true, ordering: .releasing)
    }

    /// Notes that a line is on its way to the file, under the stripe's lock.
    func beginWrite() { writes.wrappingAdd(1, ordering: .relaxed) }

    /// Notes that a line has arrived in the file, or never will.
    ///
    /// - Parameter failed: the number of the line, if it never will be in the file.
    /// - Returns: Whether it was the last one of a block that was handed in.
    func endWrite(failed: Int?) -> Bool {
        if let failed {
            failures.withLock { $0.append(failed) }
            hasFailed.store(true, ordering: .releasing)
        }
        // The thread that hands it in also sets one and reads the other, so that at least one of the two sees both.
        let left = writes.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
        return left == 0 && isHandedIn.load(ordering: .sequentiallyConsistent)
    }

    /// Writes all lines to the file at once.
    func save() throws(FileFailure) {
        try journal?.write(UnsafeRawBufferPointer(start: base, count: used), at: 0)
    }

    /// Empties it to be filled anew; only for one without a file.
    func reset() {
        used = 0
        points = 0
    }

    /// Hands the lines one by one to `body`.
    func forEachLine(_ body: (UnsafeRawBufferPointer) -> Void) {
        var place = 0
        while place < used {
            let length = Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
            place += LineFrame.headLength
            body(UnsafeRawBufferPointer(start: base + place, count: length))
            place += length
        }
    }

    /// A block without a file with the same lines and no room for others.
    func shrunk() -> LineBlock {
        let small = LineBlock(HeapMemory(capacity: max(used, 1)), maximumPoints: points)
        small.memory.base.copyMemory(from: base, byteCount: used)
        small.used = used
        small.points = points
        small.overhead = 320
        return small
    }
}

final class HeapMemory: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { base.deallocate() }
}
