import LoaderChain

// Blocks: collected lines, in memory and in files. It may use Sending.

/// A sequence of lines, each in a frame: the bytes of the block's file on the disk, except that the checksums are zero in memory.
struct LineBlock: Sendable {
    private(set) var frames: [UInt8] = []

    init() {}

    init(_ batch: LineBatch) {
        frames.reserveCapacity(batch.bytes.count + batch.count * LineFrame.headLength)
        batch.bytes.withUnsafeBytes { bytes in
            for line in 0..<batch.count { append(UnsafeRawBufferPointer(rebasing: bytes[batch.range(of: line)])) }
        }
    }

    /// The number of bytes, including the heads of the lines.
    var count: Int { frames.count }

    @inline(__always)
    mutating func append(_ line: UnsafeRawBufferPointer) {
        // The length, and zero as the checksum.
        withUnsafeBytes(of: UInt64(line.count).littleEndian) { frames.append(contentsOf: $0) }
        frames.append(contentsOf: line)
    }

    /// Removes and returns all lines, in memory of exactly their size, and keeps the capacity unless it exceeds `limit`.
    mutating func takeAll(keeping limit: Int) -> LineBlock {
        var taken = LineBlock()
        taken.frames = frames.withUnsafeBufferPointer { Array($0) }
        frames.removeAll(keepingCapacity: frames.capacity <= limit)
        return taken
    }

    func forEachLine(_ body: (UnsafeRawBufferPointer) -> Void) {
        frames.withUnsafeBytes { frames in
            for line in Self.lines(in: frames) { body(UnsafeRawBufferPointer(rebasing: frames[line])) }
        }
    }

    /// The bytes of a file with these lines.
    func withChecksums(salt: UInt64) -> [UInt8] {
        var bytes = frames
        bytes.withUnsafeMutableBytes { bytes in
            for line in Self.lines(in: UnsafeRawBufferPointer(bytes)) {
                let checksum = LineFrame.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[line]), salt: salt)
                bytes.storeBytes(of: checksum.littleEndian, toByteOffset: line.lowerBound - 4, as: UInt32.self)
            }
        }
        return bytes
    }

    private static func lines(in frames: UnsafeRawBufferPointer) -> some Sequence<Range<Int>> {
        sequence(state: 0) { place in
            guard place < frames.count else { return nil }
            let length = Int(UInt32(littleEndian: frames.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
            let start = place + LineFrame.headLength
            place = start + length
            return start..<place
        }
    }
}

/// The format of a line in a block: its length, its checksum, and its bytes, newline included.
///
/// A length of zero is the end. If a killed process or a loss of power leaves a line incomplete, its checksum does not match. The
/// checksum is salted with a number that is unique to the block, so that other data does not match either, not even a complete
/// frame inside a string of a line.
enum LineFrame {
    /// The number of bytes before the line.
    static let headLength = 8

    @inline(__always)
    static func length(of line: Int) -> Int { headLength + line }

    static func checksum(of line: UnsafeRawBufferPointer, salt: UInt64) -> UInt32 {
        var checksum = CRC32C()
        withUnsafeBytes(of: (salt.littleEndian, UInt64(line.count).littleEndian)) { checksum.add($0) }
        checksum.add(line)
        return checksum.value
    }

    /// Writes a frame into memory of sufficient size, its length last, because readers find no frame without it.
    @inline(__always)
    static func write(_ line: UnsafeRawBufferPointer, checksum: UInt32, at place: UnsafeMutableRawPointer) {
        guard let start = line.baseAddress else { return }
        (place + headLength).copyMemory(from: start, byteCount: line.count)
        place.storeBytes(of: checksum.littleEndian, toByteOffset: 4, as: UInt32.self)
        place.storeBytes(of: UInt32(truncatingIfNeeded: line.count).littleEndian, as: UInt32.self)
    }
}
