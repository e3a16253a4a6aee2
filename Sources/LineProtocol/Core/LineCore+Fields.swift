/// Fields: a key, and a value by its type.
extension LineCore {
    /// Writes a field's key with what stands before and behind it, and makes room for `more` bytes of its value.
    ///
    /// - Returns: Where the value is to stand, or nothing if the key cannot be written.
    @inline(__always)
    mutating func beginField(_ key: String, roomFor more: Int = DigitWriter.room) -> UnsafeMutableRawPointer? {
        guard readsSmallText, let small = SmallText(key), small.count > 0, small.isPlain(ByteWord.namesSpecials),
            !isReserved(small.low, .fieldKey), seriesEnd &- lineStart < Self.roomyKeyLength
        else { return beginAnyField(key, roomFor: more) }
        reserve(more &+ 32)
        let place = base + count
        place.storeBytes(of: fieldCount == 0 ? UInt8(ascii: " ") : UInt8(ascii: ","), as: UInt8.self)
        small.write(to: place + 1)
        let end = place + (1 &+ small.count)
        end.storeBytes(of: UInt8(ascii: "="), as: UInt8.self)
        fieldCount &+= 1
        return end + 1
    }

    /// A series below this length leaves room for any short key.
    private static var roomyKeyLength: Int { LineEncoder.maximumKeyLength - 64 }

    @inline(never)
    private mutating func beginAnyField(_ key: String, roomFor more: Int) -> UnsafeMutableRawPointer? {
        if key.isEmpty {
            note(.emptyFieldKey) { _ in .field("") }
            return nil
        }
        let start = count
        key.withBytes { key in
            reserve(Self.room(for: key) &+ more)
            put(fieldCount == 0 ? UInt8(ascii: " ") : UInt8(ascii: ","))
            count = writeName(key, at: base + count, as: .fieldKey) - base
        }
        // Servers keep the series and the field's key as one, joined by four bytes.
        if seriesEnd - lineStart + 4 + (count - start - 1) > LineEncoder.maximumKeyLength {
            refuseOverlong(key, from: start)
            return nil
        }
        put(UInt8(ascii: "="))
        fieldCount &+= 1
        return base + count
    }

    private mutating func refuseOverlong(_ key: String, from start: Int) {
        count = start
        let shortestKey = 1
        if seriesEnd - lineStart + 4 + shortestKey > LineEncoder.maximumKeyLength {
            if !isLost { lose(.overlongKey) { _ in .point } }
        } else {
            note(.overlongKey) { _ in .field(key) }
        }
    }

    @inline(__always)
    mutating func writeField(_ key: String, _ value: Double) {
        guard value.isFinite else { return skipField(key, .notFinite) }
        guard let place = beginField(key) else { return }
        count = DigitWriter.write(value, at: place, powers: powers) - base
    }

    /// Writes the shortest text that reads back as the same `Float`.
    mutating func writeField(_ key: String, _ value: Float) {
        guard value.isFinite else { return skipField(key, .notFinite) }
        guard let place = beginField(key) else { return }
        count = place - base
        value.description.withBytes { append(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    mutating func writeField(_ key: String, _ value: Int64) {
        guard let place = beginField(key) else { return }
        let end = DigitWriter.write(value, at: place)
        end.storeBytes(of: UInt8(ascii: "i"), as: UInt8.self)
        count = end + 1 - base
    }

    mutating func writeField(_ key: String, _ value: UInt64) {
        guard dialect.writesUnsigned || value <= UInt64(Int64.max) else { return skipField(key, .unsignedOverflow) }
        guard let place = beginField(key) else { return }
        count = DigitWriter.write(value, at: place) - base
        put(dialect.writesUnsigned ? UInt8(ascii: "u") : UInt8(ascii: "i"))
    }

    @inline(__always)
    mutating func writeField(_ key: String, _ value: Bool) {
        guard let place = beginField(key) else { return }
        place.store(value ? 0x6575_7274 : 0x65_736C_6166)  // "true" and "false", their first letter lowest
        count = place + (value ? 4 : 5) - base
    }

    @inline(__always)
    mutating func writeField(_ key: String, _ value: String) {
        guard readsSmallText, let small = SmallText(value), small.isPlain(ByteWord.stringsSpecials) else {
            return writeAnyField(key, value)
        }
        guard let place = beginField(key, roomFor: 32) else { return }
        place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        small.write(to: place + 1)
        let end = place + (1 &+ small.count)
        end.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        count = end + 1 - base
    }

    @inline(never)
    private mutating func writeAnyField(_ key: String, _ value: String) {
        value.withBytes { value in
            // Every byte can turn into three, a newline; the quotes stand around it, and the copy overshoots.
            guard let place = beginField(key, roomFor: 3 &* value.count &+ 32) else { return }
            place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
            count = place + 1 - base
            if value.count <= LineEncoder.maximumStringLength,
                value.isEmpty || ByteWord.copy(value, to: place + 1, specials: ByteWord.stringsSpecials).isPlain
            {
                count &+= value.count
            } else {
                writeSpecialString(value, key)
            }
            put(UInt8(ascii: "\""))
        }
    }

    private mutating func writeSpecialString(
        _ value: UnsafeBufferPointer<UInt8>, _ key: String
    ) {
        var value = value
        if value.count > LineEncoder.maximumStringLength {
            value = Self.truncated(value)
            note(.overlongString) { _ in .field(key) }
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
        if hasNewline { note(.newlineInString) { _ in .field(key) } }
    }

    /// The longest beginning of a string that may be written and does not end amid a character's bytes.
    private static func truncated(_ value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        var end = LineEncoder.maximumStringLength
        while end > 0, value[end] & 0xC0 == 0x80 { end -= 1 }
        return UnsafeBufferPointer(rebasing: value[..<end])
    }

    @inline(never)
    private mutating func skipField(_ key: String, _ problem: LineProblem) {
        note(problem) { _ in .field(key) }
    }
}
