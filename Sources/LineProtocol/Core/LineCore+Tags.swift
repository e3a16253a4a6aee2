/// Tags, which end up in the byte order of their keys, each key once.
///
/// They are written as they come, and the defaults go in between where they belong. As long as the keys ascend, which is
/// the rule, that is all; otherwise the tags are sorted in place once they are complete.
extension LineCore {
    @inline(__always)
    mutating func writeTag(_ key: String, _ value: String) {
        if key.isEmpty || value.isEmpty { return skipTag(key) }
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
            place = writeUnusualKey(key, written, at: start)
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
    private mutating func writeUnusualKey(_ key: String, _ text: LineBytes.Text, at start: Int) -> Int {
        let isPlain = text.isPlain && !isReserved(text.leading, .tagKey)
        let end = isPlain ? start + text.count : writeSpecialName(key, at: start, as: .tagKey)
        var written = KeyText(start: start, end: end, isPlain: isPlain, leading: text.leading.byteSwapped)
        bytes.end(at: end)
        if defaultsWritten < defaults.count { writeDefaults(before: &written) }
        if !precedes(previousKey, written) { isUnsorted = true }
        previousKey = written
        return bytes.count
    }

    @inline(never)
    private mutating func skipTag(_ key: String) {
        note(key.isEmpty ? .emptyTagKey : .emptyTagValue) { _ in .tag(key) }
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

    // MARK: Defaults

    /// Writes the defaults that belong before a key, which is the last thing written.
    private mutating func writeDefaults(before key: inout KeyText) {
        let text = array(of: key.start..<key.end)
        var order = compare(defaults[defaultsWritten], text)
        if order < 0 {
            // The key stands behind its comma.
            bytes.end(at: key.start - 1)
            while order < 0 {
                writeNextDefault()
                order = defaultsWritten < defaults.count ? compare(defaults[defaultsWritten], text) : 1
            }
            bytes.put(UInt8(ascii: ","), at: bytes.count)
            key.start = bytes.count + 1
            key.end = bytes.put(text, at: key.start)
            bytes.end(at: key.end)
        }
        // The point's own tag wins.
        if order == 0 { defaultsWritten += 1 }
    }

    private mutating func writeNextDefault() {
        let next = defaults[defaultsWritten]
        var key = next.key
        key.start += bytes.count
        key.end += bytes.count
        bytes.end(at: bytes.put(next.text, at: bytes.count))
        if !precedes(previousKey, key) { isUnsorted = true }
        previousKey = key
        defaultStarts.append(key.start)
        defaultsWritten += 1
    }

    private func compare(_ tag: DefaultTag, _ key: [UInt8]) -> Int {
        EscapedText.compare(tag.key.start..<tag.key.end, in: { tag.text[$0] }, key.indices, in: { key[$0] })
    }

    // MARK: Order

    /// Whether the first of two written keys sorts before the second.
    private func precedes(_ first: KeyText, _ second: KeyText) -> Bool {
        if first.isPlain, second.isPlain, first.leading != second.leading { return first.leading < second.leading }
        return compare(first, second) < 0
    }

    /// Compares two written keys by the bytes they stand for.
    private func compare(_ first: KeyText, _ second: KeyText) -> Int {
        EscapedText.compare(first.start..<first.end, in: { bytes[$0] }, second.start..<second.end, in: { bytes[$0] })
    }

    private func array(of places: Range<Int>) -> [UInt8] { places.map { bytes[$0] } }

    /// A key as its user knows it.
    func text(of key: KeyText) -> String {
        String(decoding: EscapedText.unescaped(key.start..<key.end, in: { bytes[$0] }), as: UTF8.self)
    }
}

// MARK: Sorting the tags of a line that came in another order, within the buffer

extension LineCore {
    /// Where a tag lies in the buffer, without its comma.
    private struct TagText {
        var key: KeyText
        var end: Int
    }

    /// Puts the tags into the order of their keys; of those with equal keys the one written last stays.
    @inline(never)
    private mutating func sortTags() {
        var tags = findTags()
        // Swift's sort is stable, so of equal keys the last one stays behind the others.
        tags.sort { compare($0.key, $1.key) < 0 }

        var sorted: [UInt8] = []
        sorted.reserveCapacity(count - tagsStart)
        for (index, tag) in tags.enumerated() {
            if index + 1 < tags.count, compare(tag.key, tags[index + 1].key) == 0 {
                // A default that came before the point's own tag was known gives way without a word.
                if !defaultStarts.contains(tag.key.start) {
                    note(.duplicateTag) { .tag($0.text(of: tag.key)) }
                }
                continue
            }
            sorted.append(UInt8(ascii: ","))
            sorted += array(of: tag.key.start..<tag.end)
        }
        bytes.end(at: bytes.put(sorted, at: tagsStart))
    }

    /// The tags, by the commas and equals signs that no backslash precedes.
    private func findTags() -> [TagText] {
        var tags: [TagText] = []
        var start = tagsStart + 1
        var keyEnd = start
        var index = start
        while index < count {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 1  // Whatever follows is no separator.
            case UInt8(ascii: "="): keyEnd = index
            case UInt8(ascii: ","):
                tags.append(TagText(key: KeyText(start: start, end: keyEnd, isPlain: false, leading: 0), end: index))
                start = index + 1
            default: break
            }
            index += 1
        }
        tags.append(TagText(key: KeyText(start: start, end: keyEnd, isPlain: false, leading: 0), end: count))
        return tags
    }
}
