/// The form in which a block holds a line: its length, a digest of it, and its bytes, newline included.
///
/// A length of zero is the end. Whatever tears a line, be it a process that was killed or a disk that lost power, leaves a
/// digest that does not fit. The digest begins with a number of the block's own, so that bytes from elsewhere do not fit
/// either, not even a whole frame that somebody has written into a string.
enum LineFrame {
    /// The bytes before those of the line.
    static let headLength = 8

    /// How many bytes the frame of a line has.
    @inline(__always)
    static func length(of line: Int) -> Int { headLength + line }

    /// Writes a frame where there is room for it.
    ///
    /// The length comes last: without it there is nothing.
    @inline(__always)
    static func write(_ line: UnsafeRawBufferPointer, digest: UInt32, at place: UnsafeMutableRawPointer) {
        guard let start = line.baseAddress else { return }
        (place + headLength).copyMemory(from: start, byteCount: line.count)
        place.storeBytes(of: digest.littleEndian, toByteOffset: 4, as: UInt32.self)
        place.storeBytes(of: UInt32(truncatingIfNeeded: line.count).littleEndian, as: UInt32.self)
    }
}

/// A number that tells torn bytes from whole ones, in two bytes per clock.
///
/// It is no match for somebody who wants to deceive, and need not be: whoever can write the file can write what he likes.
enum LineDigest {
    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// The digest of a line in a block whose own number is `salt`.
    static func of(_ line: UnsafeRawBufferPointer, salt: UInt64) -> UInt32 {
        let wordSize = MemoryLayout<UInt64>.size
        var state = step(salt, UInt64(line.count))
        var offset = 0
        while offset + wordSize <= line.count {
            state = step(state, UInt64(littleEndian: line.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += wordSize
        }
        var rest: UInt64 = 0
        while offset < line.count {
            rest = rest << 8 | UInt64(line[offset])
            offset += 1
        }
        state = step(state, rest)
        return UInt32(truncatingIfNeeded: state ^ state >> 32)
    }

    @inline(__always)
    private static func step(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* factor
        return product ^ product >> 29
    }
}

/// Reads the lines of a block, also of one that was damaged.
struct FrameReader {
    /// The lines that were found whole.
    private(set) var lines: [Range<Int>] = []
    /// How many bytes between whole lines, or before the first, belong to none.
    private(set) var damagedBytes = 0

    /// Reads the frames of a block.
    ///
    /// Where a frame is damaged, the next whole one is searched for byte by byte. What is behind the last whole one is no
    /// damage: a line that was being written when everything ended was promised to nobody.
    init(_ block: UnsafeRawBufferPointer, salt: UInt64) {
        var place = 0
        var damageStart: Int?
        while place + LineFrame.headLength < block.count {
            guard let line = Self.line(at: place, in: block, salt: salt) else {
                if damageStart == nil {
                    // Behind the end there is nothing to search for, and a block is mostly empty there.
                    if Self.isEmpty(block[place...]) { break }
                    damageStart = place
                }
                place += 1
                continue
            }
            // Another thread's line that was never written has left nothing but its room.
            if let start = damageStart, !Self.isEmpty(block[start..<place]) { damagedBytes += place - start }
            damageStart = nil
            lines.append(line)
            place = line.upperBound
        }
    }

    private static func line(at place: Int, in block: UnsafeRawBufferPointer, salt: UInt64) -> Range<Int>? {
        let start = place + LineFrame.headLength
        let length = Int(UInt32(littleEndian: block.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
        guard length > 0, length <= block.count - start, block[start + length - 1] == UInt8(ascii: "\n") else {
            return nil
        }
        let digest = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self))
        let line = start..<(start + length)
        return LineDigest.of(UnsafeRawBufferPointer(rebasing: block[line]), salt: salt) == digest ? line : nil
    }

    private static func isEmpty(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        let wordSize = MemoryLayout<UInt64>.size
        var place = 0
        while place + wordSize <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) != 0 { return false }
            place += wordSize
        }
        return bytes[place...].allSatisfy { $0 == 0 }
    }
}
