/// A text of up to fifteen bytes in two words, which is how the standard library keeps such a string.
///
/// Reading the words out of the string spares the detour through memory, which is most of the cost of a short name. The
/// arrangement is fixed on Apple systems and has not changed elsewhere, but nobody promises that; so it is tried on known
/// strings first, and where it is another, every string takes the general way.
struct SmallText {
    /// The first eight bytes, the first of them lowest, with zeros behind a shorter text.
    let low: UInt64
    /// The bytes after the eighth.
    let high: UInt64
    let count: Int

    /// The text of a string that is kept this way; ask ``isLayoutKnown`` first.
    @inline(__always)
    init?(_ string: String) {
        #if _pointerBitWidth(_64) && _endian(little)
            let words = unsafeBitCast(string, to: (UInt64, UInt64).self)
            // The highest byte holds the count, and above it 1110 for ASCII and 1010 for other text; a string that is kept
            // elsewhere has no such mark.
            guard words.1 >> 61 & 0b101 == 0b101, words.1 >> 60 & 1 == 0 else { return nil }
            low = words.0
            high = words.1 & 0x00FF_FFFF_FFFF_FFFF
            count = Int(truncatingIfNeeded: words.1 >> 56 & 0xF)
        #else
            return nil
        #endif
    }

    /// Writes sixteen bytes, of which the text is the first.
    @inline(__always)
    func write(to place: UnsafeMutableRawPointer) {
        place.store(low)
        (place + 8).store(high)
    }

    /// Whether no byte is special, where `specials` may find a zero special.
    @inline(__always)
    func isPlain(_ specials: (UInt64) -> UInt64) -> Bool {
        let letters: UInt64 = 0x4141_4141_4141_4141
        // What lies behind the end counts as letters.
        let bits = UInt64(truncatingIfNeeded: count &* 8)
        let isLong = count >= 8
        let lowFill = isLong ? 0 : letters &<< bits
        let highFill = isLong ? letters &<< (bits &- 64) : letters
        return specials(low | lowFill) | specials(high | highFill) == 0
    }

    /// Whether strings are kept in the way that is known here.
    static let isLayoutKnown: Bool = {
        #if _pointerBitWidth(_64) && _endian(little)
            guard MemoryLayout<String>.size == 16 else { return false }
            let small = [
                "", "a", "time", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghijklmno", "é", "añb€", "\0", "\u{7F}",
            ]
            let large = [
                String(repeating: "x", count: 16), String(repeating: "é", count: 8),
                String(repeating: "y", count: 1_000),
                "a literal of more than fifteen bytes",
            ]
            return small.allSatisfy(matches) && large.allSatisfy { string in SmallText(string) == nil }
        #else
            return false
        #endif
    }()

    private static func matches(_ string: String) -> Bool {
        guard let text = SmallText(string) else { return false }
        var low: UInt64 = 0
        var high: UInt64 = 0
        for (index, byte) in string.utf8.enumerated() {
            if index < 8 {
                low |= UInt64(byte) << UInt64(8 * index)
            } else {
                high |= UInt64(byte) << UInt64(8 * index - 64)
            }
        }
        return text.low == low && text.high == high && text.count == string.utf8.count
    }
}
