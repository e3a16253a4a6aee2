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
        if hasControl { note(.controlCharacter, part(name, kind)) }
        if hasBackslash { note(.ambiguousBackslash, part(name, kind)) }
        return kind == .tagValue ? place : replaceReserved(name, kind, from: start, to: place)
    }

    /// Changes the name just written if it is reserved, as a whole or by its first byte.
    ///
    /// - Returns: Where it ends now.
    @inline(never)
    private mutating func replaceReserved(_ name: String, _ kind: NameKind, from start: Int, to end: Int) -> Int {
        let first = name.utf8.first
        if first == UInt8(ascii: "_") || kind == .measurement && first == UInt8(ascii: "#") {
            note(first == UInt8(ascii: "#") ? .leadingHash : .reservedName, part(name, kind))
            // No escape stands before such a byte.
            bytes.put(Self.replacement, at: start)
        } else if kind != .measurement, name == "time" {
            note(.reservedName, part(name, kind))
            bytes.put(UInt8(ascii: "_"), at: end)
            return end + 1
        }
        return end
    }

    /// Whether servers differ in what they make of a backslash, or read it as the escape of what follows.
    private static func isAmbiguousBackslash(before next: UInt8?) -> Bool {
        guard let next else { return true }
        return isEscaped(next) || next == UInt8(ascii: "\\") || next == UInt8(ascii: "\"")
    }

    /// Whether a backslash before a byte of a name is an escape; before any other it is itself.
    static func isEscaped(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "=") || byte == UInt8(ascii: " ")
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
