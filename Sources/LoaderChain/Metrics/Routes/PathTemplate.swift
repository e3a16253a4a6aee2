// Metrics/Routes: how the path of a request becomes the name of its route, without what differs from user to user. It
// may use Support.

/// Reduces a path to the part that all users share: `/users/{id}/orders/{id}`.
///
/// A whole segment becomes `{id}` if it cannot be a word of an interface: it is longer than 64 bytes, is a UUID, has
/// percent-encoded bytes, an at sign or an equals sign, or mixes capitals, small letters and digits. Otherwise the
/// segment is split at its punctuation, and the numbers and opaque parts become `{id}`, as ``PathToken`` decides. A
/// version such as `v2` stays. What follows a semicolon is dropped, and so is everything from the seventeenth segment
/// on.
enum PathTemplate {
    private static let longestSegment = 64
    private static let mostSegments = 16
    private static let placeholder = Array("{id}".utf8)
    private static let overflow = Array("/*".utf8)

    /// The template of a percent-encoded path.
    static func of(_ path: String) -> String { String(decoding: bytes(of: path), as: UTF8.self) }

    /// The bytes of the template of a percent-encoded path.
    ///
    /// Most segments are short words, so the path is copied, and what is not a word is replaced in the copy.
    static func bytes(of path: String) -> [UInt8] {
        // Short numbers are shorter than their placeholder.
        let roomToGrow = 8
        var bytes: [UInt8] = []
        bytes.reserveCapacity(path.utf8.count + roomToGrow)
        if path.utf8.first != PathByte.slash { bytes.append(PathByte.slash) }
        bytes += path.utf8

        var slash = 0
        for _ in 0..<mostSegments {
            let start = slash + 1
            var end = start
            var seen: UInt8 = 0
            while end < bytes.count, bytes[end] != PathByte.slash {
                seen |= PathByte.kind(of: bytes[end])
                end += 1
            }
            slash = end
            if !isShortWord(seen, end - start), !SegmentLook.isVersion(bytes[start..<end]) {
                let template = seen == PathByte.isDigit ? placeholder : template(of: bytes[start..<end])
                bytes.replaceSubrange(start..<end, with: template)
                slash = start + template.count
            }
            if slash == bytes.count { return bytes }
        }
        bytes.replaceSubrange(slash..., with: overflow)
        return bytes
    }

    /// Gives `body` the bytes of the template of a percent-encoded path.
    ///
    /// Most paths are their own templates, and need no copy.
    static func withBytes<Result>(of path: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let result = path.utf8.withContiguousStorageIfAvailable { bytes in
            isOwnTemplate(bytes) ? body(UnsafeRawBufferPointer(bytes)) : nil
        }
        if let result, let result { return result }
        return bytes(of: path).withUnsafeBytes(body)
    }

    /// Whether a path has few segments, all of them short words or versions; if not, it may be its own template all the same.
    private static func isOwnTemplate(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
        guard path.first == PathByte.slash else { return false }
        var slash = 0
        for _ in 0..<mostSegments {
            let start = slash + 1
            var end = start
            var seen: UInt8 = 0
            while end < path.count, path[end] != PathByte.slash {
                seen |= PathByte.kind(of: path[end])
                end += 1
            }
            guard isShortWord(seen, end - start) || SegmentLook.isVersion(path[start..<end]) else { return false }
            slash = end
            if slash == path.count { return true }
        }
        return false
    }

    /// Whether a segment of so many bytes, of which these kinds were seen, is a word as it stands.
    @inline(__always)
    private static func isShortWord(_ seen: UInt8, _ count: Int) -> Bool {
        seen & ~PathByte.joinsWords == 0 && count < PathToken.shortestOpaque
    }

    private static func template(of segment: ArraySlice<UInt8>) -> [UInt8] {
        let segment = segment.prefix { $0 != UInt8(ascii: ";") }
        if SegmentLook.isVersion(segment) { return Array(segment) }
        let look = SegmentLook(segment)
        if segment.count > longestSegment || look.isOpaque { return placeholder }
        if look.digits == 0 && segment.count < PathToken.shortestOpaque { return Array(segment) }
        return reducingTokens(of: segment)
    }

    /// The segment with its variable tokens replaced; placeholders that only punctuation separates become one.
    private static func reducingTokens(of segment: ArraySlice<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        var rest = segment
        var placeholderEnd: Int?
        while let first = rest.first {
            let token = rest.prefix(while: ASCII.isAlphanumeric)
            if token.isEmpty {
                output.append(first)
                rest.removeFirst()
                continue
            }
            if !PathToken(token).isVariable {
                output += token
                placeholderEnd = nil
            } else if let placeholderEnd {
                output.removeLast(output.count - placeholderEnd)
            } else {
                output += placeholder
                placeholderEnd = output.count
            }
            rest = rest[token.endIndex...]
        }
        return output
    }
}

/// The kinds of bytes in a path.
private enum PathByte {
    static let slash = UInt8(ascii: "/")

    static let joinsWords: UInt8 = 1
    static let isDigit: UInt8 = 2
    static let isOther: UInt8 = 4

    @inline(__always)
    static func kind(of byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): joinsWords
        case UInt8(ascii: "-"), UInt8(ascii: "_"): joinsWords
        case UInt8(ascii: "0")...UInt8(ascii: "9"): isDigit
        default: isOther
        }
    }
}

extension ASCII {
    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte)
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26
    }
}
