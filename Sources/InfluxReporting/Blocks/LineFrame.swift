import LoaderChain

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

/// Reads the lines of a block, also of one that was damaged.
struct FrameReader {
    /// The lines that were found whole.
    private(set) var lines: [Range<Int>] = []
    /// How many bytes belong to no whole line, without those of a last line that was cut short.
    private(set) var damagedBytes = 0
    /// Whether there is nothing but zeros, or nothing at all.
    private(set) var isBlank = false

    /// The longest block that is read, far beyond any that a writer fills.
    static let longestBlock = 64 << 20

    /// Of how many bytes a checksum may be taken in vain for each byte of a block.
    ///
    /// In a block of a writer's, hardly any byte but the first of a frame looks like one. A file that is made to look like
    /// frames everywhere would cost the square of its length.
    private static let vainBytes = 4

    /// Reads the frames of a block.
    ///
    /// Where a frame is damaged, the next whole one is searched for byte by byte. A last line that was cut short is no damage:
    /// it was being written when the process ended, and was never promised.
    init(_ block: UnsafeRawBufferPointer, salt: UInt64) {
        let end = Self.end(of: block)
        isBlank = end == 0
        var place = 0
        var damageStart: Int?
        var vain = block.count * Self.vainBytes
        while place + LineFrame.headLength < end, vain >= 0 {
            guard let line = Self.line(at: place, in: block, salt: salt, vain: &vain) else {
                if damageStart == nil { damageStart = place }
                place += 1
                continue
            }
            // Another thread's line that was never written has left nothing but its room.
            if let start = damageStart, Self.end(of: block[start..<place]) > start { damagedBytes += place - start }
            damageStart = nil
            lines.append(line)
            place = line.upperBound
        }
        let rest = damageStart ?? place
        if rest < end, !Self.isCutShort(block[rest..<end]) { damagedBytes += end - rest }
    }

    /// Where the zeros at the end begin.
    private static func end(of bytes: UnsafeRawBufferPointer) -> Int { end(of: bytes[...]) }

    private static func end(of bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        (bytes.lastIndex { $0 != 0 } ?? bytes.startIndex - 1) + 1
    }

    /// Whether bytes are the beginning of a frame that goes on behind them, and do not end with a line's end.
    private static func isCutShort(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard bytes.count > LineFrame.headLength else { return true }
        let length = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return length > bytes.count - LineFrame.headLength && length <= longestBlock && bytes.last != UInt8(ascii: "\n")
    }

    private static func line(
        at place: Int, in block: UnsafeRawBufferPointer, salt: UInt64, vain: inout Int
    ) -> Range<Int>? {
        let start = place + LineFrame.headLength
        let length = Int(UInt32(littleEndian: block.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
        guard length > 0, length <= block.count - start, block[start + length - 1] == UInt8(ascii: "\n") else {
            return nil
        }
        let checksum = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self))
        let line = start..<(start + length)
        if LineFrame.checksum(of: UnsafeRawBufferPointer(rebasing: block[line]), salt: salt) == checksum { return line }
        vain -= length
        return nil
    }
}
