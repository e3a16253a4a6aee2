/// Tags, which are sorted by the bytes of their keys, each key once.
///
/// They are written in the given order, with the defaults inserted. If the keys ascend, which is usual, nothing more is needed;
/// otherwise the tags are sorted when they are complete.
extension LineCore {
    @inline(__always)
    mutating func writeTag(_ key: String, _ value: String) {
        if key.isEmpty || value.isEmpty { return note(key.isEmpty ? .emptyTagKey : .emptyTagValue) }
        let start = bytes.count &+ 1
        bytes.put(UInt8(ascii: ","), at: bytes.count)
        let written = bytes.put(key, at: start, specials: ByteWord.namesSpecials)
        let leading = written.leading.byteSwapped
        var place = start &+ written.count
        if written.isPlain, previousKey.isPlain, leading > previousKey.leading, defaultsWritten == defaults.count,
            !isReserved(written.leading, .tagKey)
        {
            previousKey = KeyText(start: start, end: place, isPlain: true, leading: leading)
        } else {
            place = writeUnusualKey(key, written)
        }
        bytes.put(UInt8(ascii: "="), at: place)
        bytes.end(at: writeName(value, at: place &+ 1, as: .tagValue))
    }

    /// Writes a key that has an escape or a problem, that may not sort after the previous key, or before which a default may belong, and
    /// returns its end.
    @inline(never)
    private mutating func writeUnusualKey(_ key: String, _ text: LineBytes.Text) -> Int {
        writeDefaults(before: key)
        let start = bytes.count + 1
        bytes.put(UInt8(ascii: ","), at: bytes.count)
        let isPlain = text.isPlain && !isReserved(text.leading, .tagKey)
        let end = writeName(key, at: start, as: .tagKey)
        bytes.end(at: end)
        follow(KeyText(start: start, end: end, isPlain: isPlain, leading: text.leading.byteSwapped))
        return end
    }

    /// Makes a written key the previous key.
    private mutating func follow(_ key: KeyText) {
        if !precedes(previousKey, key) { isUnsorted = true }
        previousKey = key
    }

    /// Ends the tags: writes the remaining defaults, and sorts the tags if necessary.
    @inline(__always)
    mutating func endTags() {
        if defaultsWritten < defaults.count || isUnsorted { completeTags() }
        seriesEnd = bytes.count
    }

    @inline(never)
    private mutating func completeTags() {
        while defaultsWritten < defaults.count { writeNextDefault() }
        if isUnsorted { sortTags() }
    }
}

// MARK: Defaults

extension LineCore {
    /// Encodes the tags that every line gets, before the first line is written.
    mutating func setDefaults(_ tags: Tags) {
        // A placeholder for the measurement.
        beginLine(measurement: "m")
        write(tags)
        endTags()
        for problem in noted { repairs[problem] += 1 }
        defaults = writtenTags().map { tag in
            var key = tag.key
            key.start -= tag.start
            key.end -= tag.start
            return DefaultTag(text: array(of: tag.start..<tag.end), key: key, name: text(of: tag.key))
        }
        abandonLine()
    }

    /// Writes the defaults that belong before a key as given; if a repair changes the key's position, the tags are sorted later.
    private mutating func writeDefaults(before key: String) {
        while defaultsWritten < defaults.count {
            let name = defaults[defaultsWritten].name.utf8
            guard name.lexicographicallyPrecedes(key.utf8) else {
                // The point's own tag wins.
                if name.elementsEqual(key.utf8) { defaultsWritten += 1 }
                return
            }
            writeNextDefault()
        }
    }

    private mutating func writeNextDefault() {
        let next = defaults[defaultsWritten]
        var key = next.key
        key.start += bytes.count
        key.end += bytes.count
        bytes.end(at: bytes.put(next.text, at: bytes.count))
        follow(key)
        defaultStarts.append(key.start)
        defaultsWritten += 1
    }
}

// MARK: Order

extension LineCore {
    /// The position of a tag in the buffer, with its comma.
    private struct TagText {
        var start: Int
        var key: KeyText
        var end: Int
        var isDefault: Bool
    }

    /// Sorts the tags by their keys; of several tags with the same key, the point's own that was written last is kept.
    @inline(never)
    private mutating func sortTags() {
        // Swift's sort is stable, so of several tags with the same key, the last is the one to keep.
        var tags = writtenTags()
        tags.sort { precedes($0.key, $1.key) || $0.isDefault && !$1.isDefault && !precedes($1.key, $0.key) }

        var sorted: [UInt8] = []
        sorted.reserveCapacity(count - tagsStart)
        for (index, tag) in tags.enumerated() {
            if index + 1 == tags.count || precedes(tag.key, tags[index + 1].key) {
                sorted += array(of: tag.start..<tag.end)
            } else if !tag.isDefault {
                note(.duplicateTag)
            }
        }
        bytes.end(at: bytes.put(sorted, at: tagsStart))
    }

    /// The written tags, found by their unescaped commas and equals signs.
    private func writtenTags() -> [TagText] {
        var tags: [TagText] = []
        var start = tagsStart
        while start < count {
            let keyEnd = place(of: UInt8(ascii: "="), behind: start)
            let end = place(of: UInt8(ascii: ","), behind: keyEnd)
            var key = KeyText(start: start + 1, end: keyEnd, isPlain: true, leading: 0)
            key.isPlain = !(key.start..<keyEnd).contains { bytes[$0] == UInt8(ascii: "\\") }
            for place in key.start..<key.start + 8 {
                key.leading = key.leading << 8 | (place < keyEnd ? UInt64(bytes[place]) : 0)
            }
            tags.append(TagText(start: start, key: key, end: end, isDefault: defaultStarts.contains(key.start)))
            start = end
        }
        return tags
    }

    /// The position of the next unescaped occurrence of a byte, or the end.
    private func place(of byte: UInt8, behind start: Int) -> Int {
        var place = start + 1
        while place < count, bytes[place] != byte { place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1 }
        return min(place, count)
    }

    private func array(of places: Range<Int>) -> [UInt8] { places.map { bytes[$0] } }

    /// Whether the first of two written keys sorts before the second, by their unescaped bytes.
    private func precedes(_ first: KeyText, _ second: KeyText) -> Bool {
        if first.isPlain, second.isPlain, first.leading != second.leading { return first.leading < second.leading }
        var (first, second) = (first, second)
        while let byte = takeByte(of: &second) {
            guard let other = takeByte(of: &first) else { return true }
            if other != byte { return other < byte }
        }
        return false
    }

    /// The unescaped text of a key.
    private func text(of key: KeyText) -> String {
        var rest = key
        var text: [UInt8] = []
        while let byte = takeByte(of: &rest) { text.append(byte) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Removes and returns the first unescaped byte of a written key.
    private func takeByte(of key: inout KeyText) -> UInt8? {
        guard key.start < key.end else { return nil }
        if bytes[key.start] == UInt8(ascii: "\\"), key.start + 1 < key.end, Self.isEscaped(bytes[key.start + 1]) {
            key.start += 1
        }
        key.start += 1
        return bytes[key.start - 1]
    }
}
