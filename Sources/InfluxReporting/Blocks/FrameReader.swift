import LoaderChain

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
        // Where an integer has 32 bits, a damaged length may be negative.
        let length = Int(
            truncatingIfNeeded: UInt32(littleEndian: block.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
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
