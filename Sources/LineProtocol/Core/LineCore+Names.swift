/// Measurements, keys and the values of tags: text that is escaped by single bytes.
extension LineCore {
    enum NameKind {
        case measurement, tagKey, tagValue, fieldKey
    }

    /// What stands for a byte that has no encoding.
    static let replacement = UInt8(ascii: "-")

    /// How much room a name may need: every byte can turn into two, and the copy overshoots.
    @inline(__always)
    static func room(for name: UnsafeBufferPointer<UInt8>) -> Int { 2 &* name.count &+ 16 }

    /// Writes a name that is not empty into room that was made for it.
    ///
    /// - Returns: Where the name ends.
    @inline(__always)
    mutating func writeName(
        _ name: UnsafeBufferPointer<UInt8>, at place: UnsafeMutableRawPointer, as kind: NameKind
    ) -> UnsafeMutableRawPointer {
        let copied = ByteWord.copy(name, to: place, specials: ByteWord.namesSpecials)
        if copied.isPlain, !isReserved(copied.leading, kind) { return place + name.count }
        count = place - base
        writeSpecialName(name, as: kind)
        return base + count
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

    /// The name `time`, as ``ByteWord/Copied`` has it.
    @inline(__always)
    private static var time: UInt64 { 0x656D_6974 }

    /// The first eight bytes of a name in which a zero, which is no end, has been replaced.
    private static func leading(_ name: UnsafeBufferPointer<UInt8>) -> UInt64 {
        name.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1 == 0 ? replacement : $1) }
    }

    /// Writes a name byte by byte, with its escapes and repairs.
    @inline(never)
    mutating func writeSpecialName(_ name: UnsafeBufferPointer<UInt8>, as kind: NameKind) {
        var hasControl = false
        var hasBackslash = false
        let start = count
        var end = base + start
        func put(_ byte: UInt8) {
            end.storeBytes(of: byte, as: UInt8.self)
            end += 1
        }
        for index in name.indices {
            let byte = name[index]
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
                let isAmbiguous = Self.isAmbiguousBackslash(at: index, in: name)
                put(isAmbiguous ? Self.replacement : byte)
                if isAmbiguous { hasBackslash = true }
            default:
                put(byte)
            }
        }
        count = end - base
        if hasControl { note(.controlCharacter) { $0.part(name, kind) } }
        if hasBackslash { note(.ambiguousBackslash) { $0.part(name, kind) } }
        if kind != .tagValue, isReserved(Self.leading(name), kind) {
            replaceReserved(name, kind, start: start)
        }
    }

    /// Whether servers differ in what they make of a backslash, or read it as the escape of what follows.
    private static func isAmbiguousBackslash(at index: Int, in name: UnsafeBufferPointer<UInt8>) -> Bool {
        if index > 0, name[index - 1] == UInt8(ascii: "\\") { return true }
        guard index + 1 < name.count else { return true }
        switch name[index + 1] {
        case UInt8(ascii: "\\"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " "), UInt8(ascii: "\""):
            return true
        default: return false
        }
    }

    /// Changes the name just written, which is reserved as a whole or by its first byte.
    private mutating func replaceReserved(_ name: UnsafeBufferPointer<UInt8>, _ kind: NameKind, start: Int) {
        if name[0] == UInt8(ascii: "t") {
            put(UInt8(ascii: "_"))
        } else {
            // No escape stands before a reserved first byte.
            base.storeBytes(of: Self.replacement, toByteOffset: start, as: UInt8.self)
        }
        note(name[0] == UInt8(ascii: "#") ? .leadingHash : .reservedName) { $0.part(name, kind) }
    }

    private func part(_ name: UnsafeBufferPointer<UInt8>, _ kind: NameKind) -> LineEncodingError.Part {
        switch kind {
        case .measurement: .measurement(String(decoding: name, as: UTF8.self))
        case .tagKey: .tag(String(decoding: name, as: UTF8.self))
        // The key of the tag has been written just before.
        case .tagValue: .tag(text(of: previousKey))
        case .fieldKey: .field(String(decoding: name, as: UTF8.self))
        }
    }
}
