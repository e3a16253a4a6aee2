import LoaderChain

// Blocks: lines that are being collected, in memory and in files. It may use Sending.

/// Lines behind each other, each in a frame.
///
/// In memory it is what the block's file has on the disk, but for the checksums, which are zero here.
struct LineBlock: Sendable {
    private(set) var frames: [UInt8] = []

    /// No lines so far.
    init() {}

    /// The lines of a batch.
    init(_ batch: LineBatch) {
        frames.reserveCapacity(batch.bytes.count + batch.count * LineFrame.headLength)
        batch.bytes.withUnsafeBytes { bytes in
            for line in 0..<batch.count { append(UnsafeRawBufferPointer(rebasing: bytes[batch.range(of: line)])) }
        }
    }

    /// How many bytes it has, those of the heads included.
    var count: Int { frames.count }

    @inline(__always)
    mutating func append(_ line: UnsafeRawBufferPointer) {
        // The length, and no checksum.
        withUnsafeBytes(of: UInt64(line.count).littleEndian) { frames.append(contentsOf: $0) }
        frames.append(contentsOf: line)
    }

    /// Takes all lines out, in no more memory than they need, and keeps the memory for others, unless it has grown beyond `limit`.
    mutating func takeAll(keeping limit: Int) -> LineBlock {
        var taken = LineBlock()
        taken.frames = frames.withUnsafeBufferPointer { Array($0) }
        frames.removeAll(keepingCapacity: frames.capacity <= limit)
        return taken
    }

    /// Hands the lines one by one to `body`.
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

/// The form in which a block holds a line: its length, a checksum of it, and its bytes, newline included.
///
/// A length of zero is the end. A line that is torn, by a process that is killed or a disk that loses power, leaves a
/// checksum that does not fit. The checksum begins with a number of the block's own, so that bytes from elsewhere do not fit
/// either, not even a whole frame that is part of a string in a line.
enum LineFrame {
    /// The bytes before those of the line.
    static let headLength = 8

    /// How many bytes the frame of a line has.
    @inline(__always)
    static func length(of line: Int) -> Int { headLength + line }

    /// The checksum of a line in a block whose own number is `salt`.
    static func checksum(of line: UnsafeRawBufferPointer, salt: UInt64) -> UInt32 {
        var checksum = CRC32C()
        withUnsafeBytes(of: (salt.littleEndian, UInt64(line.count).littleEndian)) { checksum.add($0) }
        checksum.add(line)
        return checksum.value
    }

    /// Writes a frame where there is room for it.
    ///
    /// The length comes last: without it there is nothing.
    @inline(__always)
    static func write(_ line: UnsafeRawBufferPointer, checksum: UInt32, at place: UnsafeMutableRawPointer) {
        guard let start = line.baseAddress else { return }
        (place + headLength).copyMemory(from: start, byteCount: line.count)
        place.storeBytes(of: checksum.littleEndian, toByteOffset: 4, as: UInt32.self)
        place.storeBytes(of: UInt32(truncatingIfNeeded: line.count).littleEndian, as: UInt32.self)
    }
}
