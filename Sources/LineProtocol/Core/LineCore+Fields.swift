/// Fields: a key, and a value by its type.
extension LineCore {
    /// Writes a separator, a field's key and an equals sign; returns the position of the value, or nil if the key cannot be written.
    @inline(__always)
    private mutating func beginField(_ key: String) -> Int? {
        let start = bytes.count
        bytes.put(fieldCount == 0 ? UInt8(ascii: " ") : UInt8(ascii: ","), at: start)
        let written = bytes.put(key, at: start &+ 1, specials: ByteWord.namesSpecials)
        // Servers store the series and the field's key as one key, joined by four bytes.
        guard written.isPlain, written.count > 0, !isReserved(written.leading, .fieldKey),
            seriesEnd &- lineStart &+ 4 &+ written.count <= LineLimits.key
        else { return beginUnusualField(key) }
        let end = start &+ 1 &+ written.count
        bytes.put(UInt8(ascii: "="), at: end)
        fieldCount &+= 1
        return end &+ 1
    }

    @inline(never)
    private mutating func beginUnusualField(_ key: String) -> Int? {
        if key.isEmpty {
            note(.emptyFieldKey)
            return nil
        }
        let start = bytes.count + 1
        let end = writeName(key, at: start, as: .fieldKey)
        let limit = LineLimits.key - (seriesEnd - lineStart + 4)
        if end - start > limit {
            if limit > 0 { note(.overlongKey) } else if !isLost { lose(.overlongKey) }
            return nil
        }
        bytes.put(UInt8(ascii: "="), at: end)
        fieldCount &+= 1
        return end + 1
    }

    @inline(__always)
    mutating func writeField(_ key: String, _ value: Double) {
        guard value.isFinite else { return note(.notFinite) }
        guard let place = beginField(key) else { return }
        bytes.end(at: bytes.put(shortest: value, at: place))
    }

    /// Writes the shortest text that reads back as the same `Float`.
    mutating func writeField(_ key: String, _ value: Float) {
        guard value.isFinite else { return note(.notFinite) }
        guard let place = beginField(key) else { return }
        let text = bytes.put(value.description, at: place, specials: ByteWord.namesSpecials)
        bytes.end(at: place + text.count)
    }

    @inline(__always)
    mutating func writeField(_ key: String, _ value: Int64) {
        guard let place = beginField(key) else { return }
        let end = bytes.put(decimal: value, at: place)
        bytes.put(UInt8(ascii: "i"), at: end)
        bytes.end(at: end &+ 1)
    }

    mutating func writeField(_ key: String, _ value: UInt64) {
        guard dialect.writesUnsigned || value <= UInt64(Int64.max) else { return note(.unsignedOverflow) }
        guard let place = beginField(key) else { return }
        let end = bytes.put(decimal: value, at: place)
        bytes.put(dialect.writesUnsigned ? UInt8(ascii: "u") : UInt8(ascii: "i"), at: end)
        bytes.end(at: end + 1)
    }

    @inline(__always)
    mutating func writeField(_ key: String, _ value: Bool) {
        guard let place = beginField(key) else { return }
        // The letters of "true" and "false", the first in the lowest byte.
        bytes.put(value ? 0x6575_7274 : 0x65_736C_6166 as UInt64, at: place)
        bytes.end(at: place &+ (value ? 4 : 5))
    }

    @inline(__always)
    mutating func writeField(_ key: String, _ value: String) {
        guard let place = beginField(key) else { return }
        bytes.put(UInt8(ascii: "\""), at: place)
        let text = bytes.put(value, at: place &+ 1, specials: ByteWord.stringsSpecials)
        var end = place &+ 1 &+ text.count
        if !text.isPlain || text.count > LineLimits.string {
            end = writeSpecialString(value, at: place &+ 1)
        }
        bytes.put(UInt8(ascii: "\""), at: end)
        bytes.end(at: end &+ 1)
    }

    @inline(never)
    private mutating func writeSpecialString(_ value: String, at start: Int) -> Int {
        var text = value.utf8[...]
        if text.count > LineLimits.string {
            text = Self.truncated(text)
            note(.overlongString)
        }
        var place = start
        var hasNewline = false
        func put(_ byte: UInt8) {
            bytes.put(byte, at: place)
            place &+= 1
        }
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                put(UInt8(ascii: "\\"))
                put(byte)
            case UInt8(ascii: "\n") where !dialect.keepsNewlines:
                // The two characters `\n`, with the backslash escaped.
                put(UInt8(ascii: "\\"))
                put(UInt8(ascii: "\\"))
                put(UInt8(ascii: "n"))
                hasNewline = true
            default: put(byte)
            }
        }
        if hasNewline { note(.newlineInString) }
        return place
    }

    /// The longest prefix of a string that does not exceed the limit and does not end within a character.
    private static func truncated(_ text: Substring.UTF8View) -> Substring.UTF8View {
        var end = text.index(text.startIndex, offsetBy: LineLimits.string)
        while end > text.startIndex, text[end] & 0xC0 == 0x80 { end = text.index(before: end) }
        return text[..<end]
    }
}
