/// Eight bytes that are looked at together.
enum ByteWord {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080
    private static let lows: UInt64 = 0x7F7F_7F7F_7F7F_7F7F

    /// Not zero if a byte has a meaning in a name: a control character, space, comma, `=`, a backslash, or the delete
    /// character.
    @inline(__always)
    static func namesSpecials(_ word: UInt64) -> UInt64 {
        let low = word & lows
        // Adding one turns the delete character into zero, beside the control characters.
        let next = (low &+ ones) & lows
        let plain =
            (next &+ 0x5E5E_5E5E_5E5E_5E5E) & ((low ^ 0x2C2C_2C2C_2C2C_2C2C) &+ lows)
            & ((low ^ 0x3D3D_3D3D_3D3D_3D3D) &+ lows) & ((low ^ 0x5C5C_5C5C_5C5C_5C5C) &+ lows)
        return ~(plain | word) & tops
    }

    /// Not zero if a byte has a meaning in a string: a quote, a backslash, or a newline.
    @inline(__always)
    static func stringsSpecials(_ word: UInt64) -> UInt64 {
        let low = word & lows
        let plain =
            ((low ^ 0x2222_2222_2222_2222) &+ lows) & ((low ^ 0x5C5C_5C5C_5C5C_5C5C) &+ lows)
            & ((low ^ 0x0A0A_0A0A_0A0A_0A0A) &+ lows)
        return ~(plain | word) & tops
    }

    /// What a copy has found out about the bytes.
    struct Copied {
        /// Whether none of them is special; if one is, what was copied is of no use.
        var isPlain: Bool
        /// The first eight, as they lie in memory, with zeros behind a shorter text.
        var leading: UInt64
    }

    /// Copies bytes, of which there is one at least, and looks for special ones; writes up to seven bytes past the end.
    ///
    /// Short texts, which names are, go through registers without a loop.
    @inline(__always)
    static func copy(
        _ bytes: UnsafeBufferPointer<UInt8>, to place: UnsafeMutableRawPointer, specials: (UInt64) -> UInt64
    ) -> Copied {
        guard let base = bytes.baseAddress else { return Copied(isPlain: true, leading: 0) }
        let source = UnsafeRawPointer(base)
        let count = bytes.count
        if count < 8 {
            let word: UInt64
            if count >= 4 {
                let first = source.loadUnaligned(as: UInt32.self)
                let last = source.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
                word =
                    UInt64(UInt32(littleEndian: first)) | UInt64(UInt32(littleEndian: last))
                    &<< UInt64(truncatingIfNeeded: 8 &* (count &- 4))
            } else {
                let middle = count >> 1
                let last = count &- 1
                word =
                    UInt64(base[0]) | UInt64(base[middle]) &<< UInt64(truncatingIfNeeded: 8 &* middle)
                    | UInt64(base[last]) &<< UInt64(truncatingIfNeeded: 8 &* last)
            }
            place.store(word)
            let letters: UInt64 = 0x4141_4141_4141_4141
            let filled = word | letters &<< UInt64(truncatingIfNeeded: 8 &* count)
            return Copied(isPlain: specials(filled) == 0, leading: word)
        }
        let first = source.word
        if count <= 16 {
            // The two overlap.
            let last = (source + (count &- 8)).word
            place.store(first)
            (place + (count &- 8)).store(last)
            return Copied(isPlain: specials(first) | specials(last) == 0, leading: first)
        }
        return Copied(isPlain: copyLong(source, count, to: place, specials: specials), leading: first)
    }

    @inline(never)
    private static func copyLong(
        _ source: UnsafeRawPointer, _ count: Int, to place: UnsafeMutableRawPointer, specials: (UInt64) -> UInt64
    ) -> Bool {
        var found: UInt64 = 0
        var index = 0
        while index < count &- 8 {
            let word = (source + index).word
            (place + index).store(word)
            found |= specials(word)
            index &+= 8
        }
        let last = (source + (count &- 8)).word
        (place + (count &- 8)).store(last)
        return found | specials(last) == 0
    }
}

extension String {
    /// Hands the bytes of the string to `body` without copying them, where the string's storage allows it.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        return Array(utf8).withUnsafeBufferPointer(body)
    }
}

extension UnsafeRawPointer {
    /// Eight bytes as they lie in memory, the first in the lowest byte.
    @inline(__always)
    var word: UInt64 { UInt64(littleEndian: loadUnaligned(as: UInt64.self)) }
}
