/// Fields: a key, and a value by its type.
extension LineCore {
    /// Writes a field's key with what stands before and behind it, and makes room for `more` bytes of its value.
    ///
    /// - Returns: Where the value is to stand, or nothing if the key cannot be written.
    @inline(__always)
    mutating func beginField(
        _ key: UnsafeBufferPointer<UInt8>, roomFor more: Int = DigitWriter.room
    ) -> UnsafeMutableRawPointer? {
        if key.isEmpty {
            skipField(key, .emptyFieldKey)
            return nil
        }
        reserve(Self.room(for: key) &+ more)
        let start = base + count
        start.storeBytes(of: fieldCount == 0 ? UInt8(ascii: " ") : UInt8(ascii: ","), as: UInt8.self)
        let end = writeName(key, at: start + 1, as: .fieldKey)
        // Servers keep the series and the field's key as one, joined by four bytes.
        let length = end - start - 1
        if seriesEnd &- lineStart &+ 4 &+ length > LineEncoder.maximumKeyLength {
            refuseOverlong(key, from: start - base)
            return nil
        }
        end.storeBytes(of: UInt8(ascii: "="), as: UInt8.self)
        fieldCount &+= 1
        return end + 1
    }

    @inline(never)
    private mutating func refuseOverlong(_ key: UnsafeBufferPointer<UInt8>, from start: Int) {
        count = start
        let seriesLength = seriesEnd - lineStart
        let shortestKey = 1
        if seriesLength + 4 + shortestKey > LineEncoder.maximumKeyLength {
            if !isLost { lose(.overlongKey) { _ in .point } }
        } else {
            note(.overlongKey) { _ in .field(String(decoding: key, as: UTF8.self)) }
        }
    }

    @inline(__always)
    mutating func writeField(_ key: UnsafeBufferPointer<UInt8>, _ value: Double) {
        guard value.isFinite else { return skipField(key, .notFinite) }
        guard let place = beginField(key) else { return }
        count = DigitWriter.write(value, at: place, powers: powers) - base
    }

    /// Writes the shortest text that reads back as the same `Float`.
    mutating func writeField(_ key: UnsafeBufferPointer<UInt8>, _ value: Float) {
        guard value.isFinite else { return skipField(key, .notFinite) }
        guard let place = beginField(key) else { return }
        count = place - base
        value.description.withBytes { append(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    mutating func writeField(_ key: UnsafeBufferPointer<UInt8>, _ value: Int64) {
        guard let place = beginField(key) else { return }
        let end = DigitWriter.write(value, at: place)
        end.storeBytes(of: UInt8(ascii: "i"), as: UInt8.self)
        count = end + 1 - base
    }

    mutating func writeField(_ key: UnsafeBufferPointer<UInt8>, _ value: UInt64) {
        guard dialect.writesUnsigned || value <= UInt64(Int64.max) else { return skipField(key, .unsignedOverflow) }
        guard let place = beginField(key) else { return }
        count = DigitWriter.write(value, at: place) - base
        put(dialect.writesUnsigned ? UInt8(ascii: "u") : UInt8(ascii: "i"))
    }

    @inline(__always)
    mutating func writeField(_ key: UnsafeBufferPointer<UInt8>, _ value: Bool) {
        guard let place = beginField(key) else { return }
        place.store(value ? 0x6575_7274 : 0x65_736C_6166)  // "true" and "false", their first letter lowest
        count = place + (value ? 4 : 5) - base
    }

    @inline(__always)
    mutating func writeField(_ key: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        // Every byte can turn into three, a newline; the quotes stand around it, and the copy overshoots.
        guard let place = beginField(key, roomFor: 3 &* value.count &+ 32) else { return }
        place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        var end = place + (1 &+ value.count)
        if value.count > LineEncoder.maximumStringLength
            || !value.isEmpty && !ByteWord.copy(value, to: place + 1, specials: ByteWord.stringsSpecials).isPlain
        {
            count = place + 1 - base
            writeSpecialString(value, key)
            end = base + count
        }
        end.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        count = end + 1 - base
    }

    @inline(never)
    private mutating func writeSpecialString(
        _ value: UnsafeBufferPointer<UInt8>, _ key: UnsafeBufferPointer<UInt8>
    ) {
        var value = value
        if value.count > LineEncoder.maximumStringLength {
            value = Self.truncated(value)
            note(.overlongString) { _ in .field(String(decoding: key, as: UTF8.self)) }
        }
        var hasNewline = false
        for byte in value {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                put(UInt8(ascii: "\\"))
                put(byte)
            case UInt8(ascii: "\n") where !dialect.keepsNewlines:
                // The two characters `\n`, the first of them escaped.
                put(UInt8(ascii: "\\"))
                put(UInt8(ascii: "\\"))
                put(UInt8(ascii: "n"))
                hasNewline = true
            default: put(byte)
            }
        }
        if hasNewline { note(.newlineInString) { _ in .field(String(decoding: key, as: UTF8.self)) } }
    }

    /// The longest beginning of a string that may be written and does not end amid a character's bytes.
    private static func truncated(_ value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        var end = LineEncoder.maximumStringLength
        while end > 0, value[end] & 0xC0 == 0x80 { end -= 1 }
        return UnsafeBufferPointer(rebasing: value[..<end])
    }

    @inline(never)
    private mutating func skipField(_ key: UnsafeBufferPointer<UInt8>, _ problem: LineProblem) {
        note(problem) { _ in .field(String(decoding: key, as: UTF8.self)) }
    }
}
