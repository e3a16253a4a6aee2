import LineProtocol
import Synchronization

/// Memory of the process's own.
final class HeapMemory: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { base.deallocate() }
}

/// Lines that are being collected, one behind the other.
///
/// It belongs to one stripe at a time, whose lock guards it. From when it is handed in nobody changes it any more.
final class LineBlock: @unchecked Sendable {
    private let memory: HeapMemory
    /// The file that it is kept in; nil where it ends with the process, and its frames need no digests.
    let file: BlockFile?
    /// The open file, until the block is handed in.
    private(set) var journal: (any JournalFile)?
    private let salt: UInt64?
    /// The most points it takes.
    let maximumPoints: Int
    private let base: UnsafeMutableRawPointer
    private let capacity: Int
    private(set) var used = 0
    private(set) var points = 0
    /// How many lines are on their way to the file.
    let writes = Atomic(0)
    /// How many of its bytes were there when the file was last brought onto the disk itself.
    var synchronized = 0

    init(
        _ memory: HeapMemory, maximumPoints: Int, file: BlockFile? = nil, journal: (any JournalFile)? = nil
    ) {
        self.memory = memory
        self.maximumPoints = maximumPoints
        self.file = file
        self.journal = journal
        salt = file?.salt
        base = memory.base
        capacity = memory.capacity
    }

    /// The room that it takes of what is bounded.
    var room: Int { capacity }
    /// Whether it wastes most of its room.
    var isMostlyEmpty: Bool { used < capacity / 4 }
    /// How many bytes its lines have.
    var bytes: Int { used - points * LineFrame.headLength }
    var isEmpty: Bool { points == 0 }

    /// Whether it has as many points as it takes.
    var isFull: Bool { points == maximumPoints }

    /// Takes a line in, if there is room.
    @inline(__always)
    func append(_ line: UnsafeRawBufferPointer) -> Bool {
        let length = LineFrame.length(of: line.count)
        guard length <= capacity &- used, points < maximumPoints else { return false }
        LineFrame.write(line, digest: salt.map { LineDigest.of(line, salt: $0) } ?? 0, at: base + used)
        used &+= length
        points &+= 1
        return true
    }

    /// The frame of the line that was taken in last, which nobody changes any more.
    func lastFrame(of length: Int) -> (start: Int, bytes: UnsafeRawBufferPointer) {
        let count = LineFrame.length(of: length)
        return (used - count, UnsafeRawBufferPointer(start: base + (used - count), count: count))
    }

    /// Closes the file, as soon as all lines that are on their way to it have arrived.
    func close() { journal = nil }

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
        return small
    }
}
