/// Sorting the tags of a line that came in another order, within the buffer.
extension LineCore {
    /// Where a tag lies in the buffer, without its comma.
    private struct TagText {
        var key: KeyText
        var end: Int
    }

    /// Puts the tags into the order of their keys; of those with equal keys the one written last stays.
    @inline(never)
    mutating func sortTags() {
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
