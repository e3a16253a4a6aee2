// Core: the unsafe core of the encoder, and the series that it prepares. Depends on Model; the public encoder uses it.

/// A buffer of bytes that grows, in which texts, words and bytes are put at places.
///
/// This is the one place where lines meet raw memory. Its methods are safe for every argument: a place that lies beyond the
/// memory makes it grow, and reading checks its bounds. Only two things are left to the caller, and both can spoil a line but
/// nothing else: which of the bytes before ``count`` were put there, and where the line goes on.
///
/// Raw memory is worth it because a name or a number is written as whole words, most of which reach past its end and are
/// overwritten by what follows. An array would look at its bounds, its owner and its count for every byte.
struct LineBytes: ~Copyable {
    private var base: UnsafeMutableRawPointer
    /// The last place at which something may be put, ``slack`` bytes before the end of the memory.
    private var limit: Int
    private(set) var count = 0

    /// The most bytes that one `put` of a word writes, and to spare.
    private static let slack = 16
    private static let smallest = 64

    init(capacity: Int) {
        limit = max(capacity, Self.smallest)
        base = .allocate(byteCount: limit + Self.slack, alignment: 16)
    }

    /// Copies everything but the free room.
    init(copying other: borrowing LineBytes) {
        self.init(capacity: other.count)
        base.copyMemory(from: other.base, byteCount: other.count)
        count = other.count
    }

    deinit { base.deallocate() }

    /// Ends the bytes at a place, behind what was put last or before it.
    @inline(__always)
    mutating func end(at place: Int) {
        makeRoom(at: place)
        count = place
    }

    @inline(__always)
    private mutating func makeRoom(at place: Int) {
        // One comparison for both ends: a place below zero is a large number.
        if UInt(bitPattern: place) > UInt(bitPattern: limit) { grow(to: place) }
    }

    @inline(never)
    private mutating func grow(to place: Int) {
        precondition(place >= 0, "bytes are put at places from zero on")
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
        precondition(place >= 0 && place < count, "there is a byte at this place")
        return base.load(fromByteOffset: place, as: UInt8.self)
    }

    /// The eight bytes from a place on, the first of them lowest.
    @inline(__always)
    mutating func word(at place: Int) -> UInt64 {
        makeRoom(at: place)
        return UInt64(littleEndian: base.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    /// Hands all bytes to `body` without copying them.
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
        makeRoom(at: place)
        base.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
    }

    /// Puts eight bytes at a place, the lowest first.
    @inline(__always)
    mutating func put(_ word: UInt64, at place: Int) {
        makeRoom(at: place)
        base.storeBytes(of: word.littleEndian, toByteOffset: place, as: UInt64.self)
    }

    /// Puts bytes at a place.
    ///
    /// - Returns: The place behind them.
    @inline(__always)
    mutating func put(_ bytes: [UInt8], at place: Int) -> Int {
        let end = place + bytes.count
        makeRoom(at: end)
        // The bytes fit before `end`, and `place` is not below zero unless `end` was too, or the sum overflowed and trapped.
        precondition(place >= 0, "bytes are put at places from zero on")
        bytes.withUnsafeBytes {
            (base + place).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(base), byteCount: $0.count)
        }
        return end
    }

    /// What was found out about a text while it was put.
    struct Text {
        /// How many bytes it has.
        var count: Int
        var isPlain: Bool
        /// The first eight of them, the first lowest, with zeros behind a shorter text.
        var leading: UInt64
    }

    /// Puts a text at a place as it is, and looks for special bytes.
    @inline(__always)
    mutating func put(_ text: String, at place: Int, specials: (UInt64) -> UInt64) -> Text {
        // Room is made before the bytes are looked at: with a call in between, the string would be retained.
        makeRoom(at: place)
        makeRoom(at: place + text.utf8.count)
        let memory = base + place
        if let result = text.utf8.withContiguousStorageIfAvailable({ Self.copy($0, to: memory, specials: specials) }) {
            return result
        }
        return putForeign(text, at: place, specials: specials)
    }

    /// Puts a string that Objective-C keeps, which has no bytes to show.
    @inline(never)
    private mutating func putForeign(_ text: String, at place: Int, specials: (UInt64) -> UInt64) -> Text {
        Array(text.utf8).withUnsafeBufferPointer { Self.copy($0, to: base + place, specials: specials) }
    }

    /// What lies behind the end of a text of up to seven bytes counts as letters, which are never special.
    @inline(__always)
    private static func letters(behind count: Int) -> UInt64 {
        (0x4141_4141_4141_4141 as UInt64) &<< UInt64(truncatingIfNeeded: 8 &* count)
    }

    /// Copies a text to where there is room for it and ``slack`` more; short ones go through registers without a loop.
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
        // It overlaps the one before.
        let last = source.word(at: count &- 8)
        memory.storeBytes(of: last.littleEndian, toByteOffset: count &- 8, as: UInt64.self)
        return Text(count: count, isPlain: found | specials(last) == 0, leading: first)
    }
}

extension UnsafeRawPointer {
    /// One to seven bytes, the first lowest, with zeros behind them.
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

    /// Eight bytes as they lie in memory, the first in the lowest byte.
    @inline(__always)
    fileprivate func word(at offset: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

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
}
