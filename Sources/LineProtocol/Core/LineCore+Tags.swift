/// Tags, which end up in the byte order of their keys, each key once.
///
/// They are written as they come, and the defaults go in between where they belong. As long as the keys ascend, which is
/// the rule, that is all; otherwise the tags are sorted in place once they are complete.
extension LineCore {
    @inline(__always)
    mutating func writeTag(_ key: String, _ value: String) {
        if readsSmallText, let key = SmallText(key), let value = SmallText(value), writeTag(key, value) { return }
        writeAnyTag(key, value)
    }

    /// Writes a tag of two short texts without anything unusual about it, or nothing.
    @inline(__always)
    private mutating func writeTag(_ key: SmallText, _ value: SmallText) -> Bool {
        reserve(64)
        let leading = key.low.byteSwapped
        // An empty key never sorts behind the one before.
        guard leading > previousKey.leading, previousKey.isPlain, value.count > 0, defaultsWritten == defaults.count,
            key.isPlain(ByteWord.namesSpecials), value.isPlain(ByteWord.namesSpecials), !isReserved(key.low, .tagKey)
        else { return false }
        let start = count &+ 1
        let end = start &+ key.count
        let place = base + count
        place.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
        key.write(to: place + 1)
        let equals = place + (1 &+ key.count)
        equals.storeBytes(of: UInt8(ascii: "="), as: UInt8.self)
        value.write(to: equals + 1)
        previousKey = KeyText(start: start, end: end, isPlain: true, leading: leading)
        count = end &+ 1 &+ value.count
        return true
    }

    @inline(never)
    private mutating func writeAnyTag(_ key: String, _ value: String) {
        key.withBytes { key in value.withBytes { value in writeTag(key, value) } }
    }

    @inline(__always)
    private mutating func writeTag(_ key: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        if key.isEmpty || value.isEmpty { return skipTag(key, value) }
        reserve(Self.room(for: key) &+ Self.room(for: value))
        var place = base + count
        place.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
        place += 1
        let copied = ByteWord.copy(key, to: place, specials: ByteWord.namesSpecials)
        let leading = copied.leading.byteSwapped
        if copied.isPlain, previousKey.isPlain, leading > previousKey.leading, defaultsWritten == defaults.count,
            !isReserved(copied.leading, .tagKey)
        {
            let start = place - base
            previousKey = KeyText(start: start, end: start &+ key.count, isPlain: true, leading: leading)
            place += key.count
        } else {
            place = writeUnusualKey(key, roomFor: value)
        }
        place.storeBytes(of: UInt8(ascii: "="), as: UInt8.self)
        count = writeName(value, at: place + 1, as: .tagValue) - base
    }

    /// Writes a key with its comma that has an escape or a problem, does not plainly sort behind the one before, or may
    /// stand behind a default.
    @inline(never)
    private mutating func writeUnusualKey(
        _ key: UnsafeBufferPointer<UInt8>, roomFor value: UnsafeBufferPointer<UInt8>
    ) -> UnsafeMutableRawPointer {
        let before = count
        var written = writeKey(key)
        if defaultsWritten < defaults.count { writeDefaults(before: &written, from: before) }
        if !precedes(previousKey, written) { isUnsorted = true }
        previousKey = written
        reserve(Self.room(for: value))
        return base + count
    }

    private mutating func writeKey(_ key: UnsafeBufferPointer<UInt8>) -> KeyText {
        reserve(Self.room(for: key))
        put(UInt8(ascii: ","))
        let start = count
        let copied = ByteWord.copy(key, to: base + start, specials: ByteWord.namesSpecials)
        count = writeName(key, at: base + start, as: .tagKey) - base
        let isPlain = copied.isPlain && !isReserved(copied.leading, .tagKey)
        return KeyText(start: start, end: count, isPlain: isPlain, leading: copied.leading.byteSwapped)
    }

    @inline(never)
    private mutating func skipTag(_ key: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        note(key.isEmpty ? .emptyTagKey : .emptyTagValue) { _ in .tag(String(decoding: key, as: UTF8.self)) }
    }

    /// Ends the tags: the rest of the defaults, the order, and whether the series is too long.
    @inline(__always)
    mutating func endTags() {
        if defaultsWritten < defaults.count || isUnsorted { completeTags() }
        seriesEnd = count
    }

    @inline(never)
    private mutating func completeTags() {
        while defaultsWritten < defaults.count { writeNextDefault() }
        if isUnsorted { sortTags() }
    }

    // MARK: Defaults

    /// Writes the defaults that belong before a key, which is the last thing written and began at `start`.
    private mutating func writeDefaults(before key: inout KeyText, from start: Int) {
        let text = Array(bytes(of: key))
        var order = compare(defaults[defaultsWritten], text)
        if order < 0 {
            count = start
            while order < 0 {
                writeNextDefault()
                order = defaultsWritten < defaults.count ? compare(defaults[defaultsWritten], text) : 1
            }
            reserve(text.count + 1)
            put(UInt8(ascii: ","))
            key.start = count
            text.withUnsafeBytes { append($0) }
            key.end = count
        }
        // The point's own tag wins.
        if order == 0 { defaultsWritten += 1 }
    }

    private mutating func writeNextDefault() {
        let next = defaults[defaultsWritten]
        var key = next.key
        key.start += count
        key.end += count
        next.text.withUnsafeBytes { append($0) }
        if !precedes(previousKey, key) { isUnsorted = true }
        previousKey = key
        defaultStarts.append(key.start)
        defaultsWritten += 1
    }

    private func compare(_ tag: DefaultTag, _ key: [UInt8]) -> Int {
        EscapedText.compare(tag.text[tag.key.start..<tag.key.end], key[...])
    }

    // MARK: Order

    /// Whether the first of two keys in the buffer sorts before the second.
    private func precedes(_ first: KeyText, _ second: KeyText) -> Bool {
        if first.isPlain, second.isPlain, first.leading != second.leading { return first.leading < second.leading }
        return precedesEscaped(first, second)
    }

    private func precedesEscaped(_ first: KeyText, _ second: KeyText) -> Bool {
        EscapedText.compare(bytes(of: first), bytes(of: second)) < 0
    }

    func bytes(of key: KeyText) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + key.start, count: key.end - key.start)
    }

    /// A key as its user knows it.
    func text(of key: KeyText) -> String {
        String(decoding: EscapedText.unescaped(bytes(of: key)), as: UTF8.self)
    }
}
