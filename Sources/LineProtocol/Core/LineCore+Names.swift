/// Measurements, keys and the values of tags: text that is escaped by single bytes.
extension LineCore {
    enum NameKind {
        case measurement, tagKey, tagValue, fieldKey
    }

    /// What stands for a byte that has no encoding.
    private static let replacement = UInt8(ascii: "-")

    /// Writes a name that is not empty at a place.
    ///
    /// - Returns: Where the name ends.
    @inline(__always)
    mutating func writeName(_ name: String, at place: Int, as kind: NameKind) -> Int {
        let written = bytes.put(name, at: place, specials: ByteWord.namesSpecials)
        if written.isPlain, !isReserved(written.leading, kind) { return place &+ written.count }
        return writeSpecialName(name, at: place, as: kind)
    }

    /// Whether the whole name, or its beginning, means something else to a server.
    @inline(__always)
    func isReserved(_ leading: UInt64, _ kind: NameKind) -> Bool {
        let first = UInt8(truncatingIfNeeded: leading)
        switch kind {
        case .tagValue: return false
        case .measurement: return first == UInt8(ascii: "#") || first == UInt8(ascii: "_")
        case .tagKey, .fieldKey: return first == UInt8(ascii: "_") || leading == Self.time
        }
    }

    /// The name `time`, as ``LineBytes/Text`` has it.
    @inline(__always)
    private static var time: UInt64 { 0x656D_6974 }

    /// The first eight bytes of a name in which a zero, which is no end, has been replaced.
    private static func leading(_ name: String) -> UInt64 {
        name.utf8.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1 == 0 ? replacement : $1) }
    }

    /// Writes a name byte by byte, with its escapes and repairs.
    ///
    /// - Returns: Where the name ends.
    @inline(never)
    mutating func writeSpecialName(_ name: String, at start: Int, as kind: NameKind) -> Int {
        var hasControl = false
        var hasBackslash = false
        var place = start
        func put(_ byte: UInt8) {
            bytes.put(byte, at: place)
            place &+= 1
        }
        var isBehindBackslash = false
        var rest = name.utf8.makeIterator()
        var next = rest.next()
        while let byte = next {
            next = rest.next()
            switch byte {
            case 0...0x1F, 0x7F:
                put(Self.replacement)
                hasControl = true
            case UInt8(ascii: ","), UInt8(ascii: " "):
                put(UInt8(ascii: "\\"))
                put(byte)
            case UInt8(ascii: "="):
                if kind != .measurement { put(UInt8(ascii: "\\")) }
                put(byte)
            case UInt8(ascii: "\\"):
                let isAmbiguous = isBehindBackslash || Self.isAmbiguousBackslash(before: next)
                put(isAmbiguous ? Self.replacement : byte)
                if isAmbiguous { hasBackslash = true }
            default:
                put(byte)
            }
            isBehindBackslash = byte == UInt8(ascii: "\\")
        }
        if hasControl { note(.controlCharacter) { $0.part(name, kind) } }
        if hasBackslash { note(.ambiguousBackslash) { $0.part(name, kind) } }
        if kind != .tagValue, isReserved(Self.leading(name), kind) {
            place = replaceReserved(name, kind, from: start, to: place)
        }
        return place
    }

    /// Whether servers differ in what they make of a backslash, or read it as the escape of what follows.
    private static func isAmbiguousBackslash(before next: UInt8?) -> Bool {
        switch next {
        case nil, UInt8(ascii: "\\"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " "), UInt8(ascii: "\""): true
        default: false
        }
    }

    /// Changes the name just written, which is reserved as a whole or by its first byte.
    ///
    /// - Returns: Where it ends now.
    private mutating func replaceReserved(_ name: String, _ kind: NameKind, from start: Int, to end: Int) -> Int {
        let first = name.utf8.first
        note(first == UInt8(ascii: "#") ? .leadingHash : .reservedName) { $0.part(name, kind) }
        if first == UInt8(ascii: "t") {
            bytes.put(UInt8(ascii: "_"), at: end)
            return end + 1
        }
        // No escape stands before a reserved first byte.
        bytes.put(Self.replacement, at: start)
        return end
    }

    private func part(_ name: String, _ kind: NameKind) -> LineEncodingError.Part {
        switch kind {
        case .measurement: .measurement(name)
        case .tagKey: .tag(name)
        // The key of the tag has been written just before.
        case .tagValue: .tag(text(of: previousKey))
        case .fieldKey: .field(name)
        }
    }
}

/// Names as the encoder writes them, where a backslash before `,`, `=` or a space is an escape and any other is itself.
///
/// A name lies at places of something that answers the byte at each of them.
enum EscapedText {
    /// Compares two names by the bytes they stand for: below zero if the first sorts before the second.
    static func compare(
        _ first: Range<Int>, in firstByte: (Int) -> UInt8, _ second: Range<Int>, in secondByte: (Int) -> UInt8
    ) -> Int {
        var (left, right) = (first, second)
        while true {
            switch (next(in: &left, firstByte), next(in: &right, secondByte)) {
            case (nil, nil): return 0
            case (nil, _): return -1
            case (_, nil): return 1
            case (let one?, let other?): if one != other { return one < other ? -1 : 1 }
            }
        }
    }

    static func unescaped(_ places: Range<Int>, in byte: (Int) -> UInt8) -> [UInt8] {
        var rest = places
        var result: [UInt8] = []
        while let byte = next(in: &rest, byte) { result.append(byte) }
        return result
    }

    /// Takes the first byte that a name stands for off its front.
    private static func next(in rest: inout Range<Int>, _ byte: (Int) -> UInt8) -> UInt8? {
        guard let place = rest.first else { return nil }
        let first = byte(place)
        rest = rest.dropFirst()
        guard first == UInt8(ascii: "\\"), let following = rest.first.map(byte) else { return first }
        switch following {
        case UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " "):
            rest = rest.dropFirst()
            return following
        default: return first
        }
    }

    /// Where a byte stands that no backslash precedes, or the end.
    static func firstIndex(of byte: UInt8, in bytes: ArraySlice<UInt8>) -> Int {
        var index = bytes.startIndex
        while index < bytes.endIndex, bytes[index] != byte {
            // Whatever follows a backslash is no separator.
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, bytes.endIndex)
    }
}
