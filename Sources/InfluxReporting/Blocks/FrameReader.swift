import LoaderChain

/// Reads the lines of a block, even if it is damaged.
struct FrameReader {
    /// The intact lines.
    private(set) var lines: [Range<Int>] = []
    /// The number of bytes outside intact lines, without those of a truncated last line.
    private(set) var damagedBytes = 0
    /// Whether the block is empty or contains only zeros.
    private(set) var isBlank = false

    /// The maximum size of a block that is read, far above the size that a writer creates.
    static let longestBlock = 64 << 20

    /// The limit for bytes whose checksum is computed and does not match, for each byte of the block.
    ///
    /// In a writer's block, few positions other than the start of a frame look like one. Without the limit, a file crafted to look
    /// like frames everywhere would take quadratic time.
    private static let wastedBytes = 4

    /// Reads the frames of a block.
    ///
    /// After a damaged frame, the next intact one is searched for byte by byte. A truncated last line does not count as damage:
    /// it was being written when the process ended, so its `write` had not returned.
    init(_ block: UnsafeRawBufferPointer, salt: UInt64) {
        let end = Self.end(of: block)
        isBlank = end == 0
        var place = 0
        var damageStart: Int?
        var budget = block.count * Self.wastedBytes
        while place + LineFrame.headLength < end, budget >= 0 {
            guard let line = Self.line(at: place, in: block, salt: salt, budget: &budget) else {
                if damageStart == nil { damageStart = place }
                place += 1
                continue
            }
            // A gap of zeros is the space of a line that another thread did not get to write, so it is not damage.
            if let start = damageStart, Self.end(of: block[start..<place]) > start { damagedBytes += place - start }
            damageStart = nil
            lines.append(line)
            place = line.upperBound
        }
        let rest = damageStart ?? place
        if rest < end, !Self.isCutShort(block[rest..<end]) { damagedBytes += end - rest }
    }

    /// The index at which the trailing zeros begin.
    private static func end(of bytes: UnsafeRawBufferPointer) -> Int { end(of: bytes[...]) }

    private static func end(of bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        (bytes.lastIndex { $0 != 0 } ?? bytes.startIndex - 1) + 1
    }

    /// Whether bytes are the beginning of a frame that is longer than they are, and do not end with a newline.
    private static func isCutShort(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard bytes.count > LineFrame.headLength else { return true }
        let length = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return length > bytes.count - LineFrame.headLength && length <= longestBlock && bytes.last != UInt8(ascii: "\n")
    }

    private static func line(
        at place: Int, in block: UnsafeRawBufferPointer, salt: UInt64, budget: inout Int
    ) -> Range<Int>? {
        let start = place + LineFrame.headLength
        // If `Int` has 32 bits, a damaged length can be negative.
        let length = Int(
            truncatingIfNeeded: UInt32(littleEndian: block.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
        guard length > 0, length <= block.count - start, block[start + length - 1] == UInt8(ascii: "\n") else {
            return nil
        }
        let checksum = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self))
        let line = start..<(start + length)
        if LineFrame.checksum(of: UnsafeRawBufferPointer(rebasing: block[line]), salt: salt) == checksum { return line }
        budget -= length
        return nil
    }
}
