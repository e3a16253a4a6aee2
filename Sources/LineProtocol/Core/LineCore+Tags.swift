/// Tags, which end up in the byte order of their keys, each key once.
///
/// They are written as they come, and the defaults go in between where they belong. As long as the keys ascend, which is
/// the rule, that is all; otherwise the tags are sorted in place once they are complete.
extension LineCore {
    @inline(__always)
    mutating func writeTag(_ key: String, _ value: String) {
        if key.isEmpty || value.isEmpty { return note(key.isEmpty ? .emptyTagKey : .emptyTagValue, .tag(key)) }
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
        // A problem of the value is reported with the key.
        bytes.end(at: place)
        bytes.put(UInt8(ascii: "="), at: place)
        bytes.end(at: writeName(value, at: place &+ 1, as: .tagValue))
    }

    /// Writes a key that has an escape or a problem, does not plainly sort behind the one before, or may stand behind a default.
    ///
    /// - Returns: Where it ends.
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

    /// Takes a key that is written as the one before the next.
    private mutating func follow(_ key: KeyText) {
        if !precedes(previousKey, key) { isUnsorted = true }
        previousKey = key
    }

    /// Ends the tags: the rest of the defaults, the order, and whether the series is too long.
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
    /// Keeps the tags that every line gets, each ready to be copied, before there is a line.
    mutating func setDefaults(_ tags: Tags) {
        // The letter stands for the measurement.
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

    /// Writes the defaults that belong before a key as it was given; if a repair gives it another place, the tags are sorted.
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
    /// Where a tag lies in the buffer, with its comma.
    private struct TagText {
        var start: Int
        var key: KeyText
        var end: Int
        var isDefault: Bool
    }

    /// Puts the tags into the order of their keys; of those with equal keys the point's own that was written last stays.
    @inline(never)
    private mutating func sortTags() {
        // Swift's sort is stable, so of equal keys what gives way stands before what stays.
        var tags = writtenTags()
        tags.sort { precedes($0.key, $1.key) || $0.isDefault && !$1.isDefault && !precedes($1.key, $0.key) }

        var sorted: [UInt8] = []
        sorted.reserveCapacity(count - tagsStart)
        for (index, tag) in tags.enumerated() {
            if index + 1 == tags.count || precedes(tag.key, tags[index + 1].key) {
                sorted += array(of: tag.start..<tag.end)
            } else if !tag.isDefault {
                note(.duplicateTag, .tag(text(of: tag.key)))
            }
        }
        bytes.end(at: bytes.put(sorted, at: tagsStart))
    }

    /// The tags, by the commas and equals signs that no backslash precedes.
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

    /// Where a byte stands that no backslash precedes, or the end.
    private func place(of byte: UInt8, behind start: Int) -> Int {
        var place = start + 1
        while place < count, bytes[place] != byte { place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1 }
        return min(place, count)
    }

    private func array(of places: Range<Int>) -> [UInt8] { places.map { bytes[$0] } }

    /// Whether the first of two written keys sorts before the second, by the bytes they stand for.
    private func precedes(_ first: KeyText, _ second: KeyText) -> Bool {
        if first.isPlain, second.isPlain, first.leading != second.leading { return first.leading < second.leading }
        var (first, second) = (first, second)
        while let byte = takeByte(of: &second) {
            guard let other = takeByte(of: &first) else { return true }
            if other != byte { return other < byte }
        }
        return false
    }

    /// A key as its user knows it.
    func text(of key: KeyText) -> String {
        var rest = key
        var text: [UInt8] = []
        while let byte = takeByte(of: &rest) { text.append(byte) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Takes the first byte that a written key stands for off its front.
    private func takeByte(of key: inout KeyText) -> UInt8? {
        guard key.start < key.end else { return nil }
        if bytes[key.start] == UInt8(ascii: "\\"), key.start + 1 < key.end, Self.isEscaped(bytes[key.start + 1]) {
            key.start += 1
        }
        key.start += 1
        return bytes[key.start - 1]
    }
}
