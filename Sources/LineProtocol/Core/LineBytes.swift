// Core: the unsafe core of the encoder, and the series that it prepares. Depends on Model; the public encoder uses it.

/// A growing buffer of bytes, in which texts, words and bytes are put at positions.
///
/// This is the only type of the encoder that uses raw memory. Its methods are safe for every argument: a position beyond the
/// memory makes it grow, and reading checks its bounds. The caller is responsible for two things, and an error in them can only
/// produce a wrong line: that all bytes before ``count`` have been put, and that positions are right.
///
/// Raw memory is worth it because a name or a number is written as whole words, most of which reach past its end and are
/// overwritten by the next. An array would check its bounds, its uniqueness and its count for every byte.
struct LineBytes: ~Copyable {
    private var base: UnsafeMutableRawPointer
    /// The last position at which a word may be put, ``slack`` bytes before the end of the memory.
    private var limit: Int
    private(set) var count = 0

    var capacity: Int { limit }

    /// At least the number of bytes that a `put` of a word writes.
    private static let slack = 16
    private static let smallest = 64

    init(capacity: Int) {
        limit = max(capacity, Self.smallest)
        base = .allocate(byteCount: limit + Self.slack, alignment: 16)
    }

    /// Copies the bytes, without the unused capacity.
    init(copying other: borrowing LineBytes) {
        self.init(capacity: other.count)
        base.copyMemory(from: other.base, byteCount: other.count)
        count = other.count
    }

    deinit { base.deallocate() }

    /// Sets the end of the bytes, after the last bytes that were put or earlier.
    @inline(__always)
    mutating func end(at place: Int) {
        reserve(through: place)
        count = place
    }

    @inline(__always)
    private mutating func reserve(through place: Int) {
        // One comparison for both ends: as an unsigned number, a negative position is large.
        if UInt(bitPattern: place) > UInt(bitPattern: limit) { grow(to: place) }
    }

    @inline(never)
    private mutating func grow(to place: Int) {
        precondition(place >= 0, "a position must not be negative")
        let larger = max(limit * 2, place)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: larger + Self.slack, alignment: 16)
        memory.copyMemory(from: base, byteCount: limit + Self.slack)
        base.deallocate()
        base = memory
        limit = larger
    }
}

// MARK: Reading

extension LineBytes {
    subscript(place: Int) -> UInt8 {
        precondition(place >= 0 && place < count, "the position is out of bounds")
        return base.load(fromByteOffset: place, as: UInt8.self)
    }

    /// The eight bytes from a position on, the first in the lowest byte.
    @inline(__always)
    mutating func word(at place: Int) -> UInt64 {
        reserve(through: place)
        return UInt64(littleEndian: base.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    borrowing func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }
}

// MARK: Putting

extension LineBytes {
    @inline(__always)
    mutating func put(_ byte: UInt8, at place: Int) {
        reserve(through: place)
        base.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
    }

    /// Puts eight bytes at a position, the lowest first.
    @inline(__always)
    mutating func put(_ word: UInt64, at place: Int) {
        reserve(through: place)
        base.storeBytes(of: word.littleEndian, toByteOffset: place, as: UInt64.self)
    }

    /// Puts bytes at a position, and returns the position after them.
    @inline(__always)
    mutating func put(_ bytes: [UInt8], at place: Int) -> Int {
        let end = place + bytes.count
        reserve(through: end)
        // There is space up to `end`. A negative `place` with a valid `end` is caught here; an overflow of the sum has trapped.
        precondition(place >= 0, "a position must not be negative")
        bytes.withUnsafeBytes {
            (base + place).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(base), byteCount: $0.count)
        }
        return end
    }

    /// The properties of a text that were determined while it was put.
    struct Text {
        /// The number of bytes.
        var count: Int
        var isPlain: Bool
        /// The first eight bytes, the first in the lowest byte, padded with zeros.
        var leading: UInt64
    }

    /// Puts a text at a position unchanged, and looks for special bytes.
    @inline(__always)
    mutating func put(_ text: String, at place: Int, specials: (UInt64) -> UInt64) -> Text {
        // Memory is reserved before the bytes are accessed: with a call in between, the string would be retained.
        reserve(through: place)
        reserve(through: place + text.utf8.count)
        let memory = base + place
        if let result = text.utf8.withContiguousStorageIfAvailable({ Self.copy($0, to: memory, specials: specials) }) {
            return result
        }
        return putForeign(text, at: place, specials: specials)
    }

    /// Puts a string that is stored by Objective-C and has no contiguous UTF-8 bytes.
    @inline(never)
    private mutating func putForeign(_ text: String, at place: Int, specials: (UInt64) -> UInt64) -> Text {
        Array(text.utf8).withUnsafeBufferPointer { Self.copy($0, to: base + place, specials: specials) }
    }

    /// Letters after the end of a text of up to seven bytes; letters are never special.
    @inline(__always)
    private static func letters(behind count: Int) -> UInt64 {
        (0x4141_4141_4141_4141 as UInt64) &<< UInt64(truncatingIfNeeded: 8 &* count)
    }

    /// Copies a text to memory with space for it and ``slack`` bytes more; short texts go through registers without a loop.
    @inline(__always)
    private static func copy(
        _ text: UnsafeBufferPointer<UInt8>, to memory: UnsafeMutableRawPointer, specials: (UInt64) -> UInt64
    ) -> Text {
        guard let source = UnsafeRawPointer(text.baseAddress), text.count > 0 else {
            return Text(count: 0, isPlain: true, leading: 0)
        }
        let count = text.count
        if count < 8 {
            let word = source.shortWord(count)
            memory.storeBytes(of: word.littleEndian, as: UInt64.self)
            return Text(count: count, isPlain: specials(word | letters(behind: count)) == 0, leading: word)
        }
        let first = source.word(at: 0)
        if count < 16 {
            // A short string was just stored as two words on the stack, and a load across both would stall.
            let second = count == 8 ? 0 : (source + 8).shortWord(count &- 8)
            memory.storeBytes(of: first.littleEndian, as: UInt64.self)
            memory.storeBytes(of: second.littleEndian, toByteOffset: 8, as: UInt64.self)
            let found = specials(first) | specials(second | letters(behind: count &- 8))
            return Text(count: count, isPlain: found == 0, leading: first)
        }
        var found = specials(first)
        memory.storeBytes(of: first.littleEndian, as: UInt64.self)
        var index = 8
        while index < count &- 8 {
            let word = source.word(at: index)
            memory.storeBytes(of: word.littleEndian, toByteOffset: index, as: UInt64.self)
            found |= specials(word)
            index &+= 8
        }
        // The last word overlaps the previous one.
        let last = source.word(at: count &- 8)
        memory.storeBytes(of: last.littleEndian, toByteOffset: count &- 8, as: UInt64.self)
        return Text(count: count, isPlain: found | specials(last) == 0, leading: first)
    }
}

extension UnsafeRawPointer {
    /// One to seven bytes, the first in the lowest byte, padded with zeros.
    @inline(__always)
    fileprivate func shortWord(_ count: Int) -> UInt64 {
        if count >= 4 {
            let first = UInt32(littleEndian: loadUnaligned(as: UInt32.self))
            let last = UInt32(littleEndian: loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
            return UInt64(first) | UInt64(last) &<< UInt64(truncatingIfNeeded: 8 &* (count &- 4))
        }
        let middle = count >> 1
        let last = count &- 1
        return UInt64(load(as: UInt8.self))
            | UInt64(load(fromByteOffset: middle, as: UInt8.self)) &<< UInt64(truncatingIfNeeded: 8 &* middle)
            | UInt64(load(fromByteOffset: last, as: UInt8.self)) &<< UInt64(truncatingIfNeeded: 8 &* last)
    }

    /// Eight bytes, the first in the lowest byte.
    @inline(__always)
    fileprivate func word(at offset: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

/// Searches eight bytes at a time.
enum ByteWord {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080
    private static let lows: UInt64 = 0x7F7F_7F7F_7F7F_7F7F

    /// Not zero if a byte is special in a name: a control character, space, comma, `=`, a backslash, or the delete character.
    @inline(__always)
    static func namesSpecials(_ word: UInt64) -> UInt64 {
        let low = word & lows
        // Adding one turns the delete character into zero, so that it counts as a control character.
        let next = (low &+ ones) & lows
        let plain =
            (next &+ 0x5E5E_5E5E_5E5E_5E5E) & ((low ^ 0x2C2C_2C2C_2C2C_2C2C) &+ lows)
            & ((low ^ 0x3D3D_3D3D_3D3D_3D3D) &+ lows) & ((low ^ 0x5C5C_5C5C_5C5C_5C5C) &+ lows)
        return ~(plain | word) & tops
    }

    /// Not zero if a byte is special in a string: a quote, a backslash, or a newline.
    @inline(__always)
    static func stringsSpecials(_ word: UInt64) -> UInt64 {
        let low = word & lows
        let plain =
            ((low ^ 0x2222_2222_2222_2222) &+ lows) & ((low ^ 0x5C5C_5C5C_5C5C_5C5C) &+ lows)
            & ((low ^ 0x0A0A_0A0A_0A0A_0A0A) &+ lows)
        return ~(plain | word) & tops
    }
}
