/// Measurements, keys and tag values: text in which single bytes are escaped.
extension LineCore {
    enum NameKind {
        case measurement, tagKey, tagValue, fieldKey
    }

    /// The replacement for a byte that has no encoding.
    private static let replacement = UInt8(ascii: "-")

    /// Writes a non-empty name at a position, and returns its end.
    @inline(__always)
    mutating func writeName(_ name: String, at place: Int, as kind: NameKind) -> Int {
        let written = bytes.put(name, at: place, specials: ByteWord.namesSpecials)
        if written.isPlain, !isReserved(written.leading, kind) { return place &+ written.count }
        return writeSpecialName(name, at: place, as: kind)
    }

    /// Whether the name, or its first byte, has a special meaning to servers.
    @inline(__always)
    func isReserved(_ leading: UInt64, _ kind: NameKind) -> Bool {
        let first = UInt8(truncatingIfNeeded: leading)
        switch kind {
        case .tagValue: return false
        case .measurement: return first == UInt8(ascii: "#") || first == UInt8(ascii: "_")
        case .tagKey, .fieldKey: return first == UInt8(ascii: "_") || leading == Self.time
        }
    }

    /// The name `time`, in the format of ``LineBytes/Text/leading``.
    @inline(__always)
    private static var time: UInt64 { 0x656D_6974 }

    /// Writes a name byte by byte, with its escapes and repairs, and returns its end.
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
        if hasControl { note(.controlCharacter) }
        if hasBackslash { note(.ambiguousBackslash) }
        return kind == .tagValue ? place : replaceReserved(name, kind, from: start, to: place)
    }

    /// Changes the name just written if it is reserved, as a whole or because of its first byte, and returns its new end.
    @inline(never)
    private mutating func replaceReserved(_ name: String, _ kind: NameKind, from start: Int, to end: Int) -> Int {
        let first = name.utf8.first
        if first == UInt8(ascii: "_") || kind == .measurement && first == UInt8(ascii: "#") {
            note(first == UInt8(ascii: "#") ? .leadingHash : .reservedName)
            // These bytes are not escaped, so the byte is at the start.
            bytes.put(Self.replacement, at: start)
        } else if kind != .measurement, name == "time" {
            note(.reservedName)
            bytes.put(UInt8(ascii: "_"), at: end)
            return end + 1
        }
        return end
    }

    /// Whether servers disagree about a backslash, or interpret it as an escape of the next byte.
    private static func isAmbiguousBackslash(before next: UInt8?) -> Bool {
        guard let next else { return true }
        return isEscaped(next) || next == UInt8(ascii: "\\") || next == UInt8(ascii: "\"")
    }

    /// Whether a backslash escapes this byte in a name; before other bytes it stands for itself.
    static func isEscaped(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "=") || byte == UInt8(ascii: " ")
    }
}
