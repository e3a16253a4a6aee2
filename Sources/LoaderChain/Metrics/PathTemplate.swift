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
    fileprivate static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte)
    }

    fileprivate static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26
    }
}

/// A run of letters and digits in a path: a word, or an identifier.
private struct PathToken {
    /// A shorter token without a digit is a word.
    static let shortestOpaque = 16
    private static let shortestHex = 8
    private static let shortestMixed = 8
    private static let fewestMixedChanges = 3
    private static let shortestNumber = 5
    private static let longestWord = 32

    private var count = 0
    private var digits = 0
    private var hexDigits = 0
    private var longestNumber = 0
    /// How often a digit follows a letter, or a letter a digit.
    private var digitChanges = 0
    /// How often the kind changes between capitals, small letters and digits.
    private var changes = 0

    init(_ token: ArraySlice<UInt8>) {
        var number = 0
        var last: Kind?
        for byte in token {
            let kind = Kind(byte)
            if ASCII.hexadecimalValue(byte) != nil { hexDigits += 1 }
            number = kind == .digit ? number + 1 : 0
            if kind == .digit { digits += 1 }
            longestNumber = max(longestNumber, number)
            if let last, last != kind {
                changes += 1
                if last == .digit || kind == .digit { digitChanges += 1 }
            }
            last = kind
        }
        count = token.count
    }

    private enum Kind {
        case capital, small, digit

        init(_ byte: UInt8) {
            self = ASCII.isDigit(byte) ? .digit : ASCII.lowercased(byte) == byte ? .small : .capital
        }
    }

    /// Whether to replace it: a number, a long number within a word, hexadecimal digits, or an opaque mixture.
    var isVariable: Bool {
        if digits == count { return true }
        if hexDigits == count, count >= Self.shortestHex, digits > 0 || count >= Self.shortestOpaque { return true }
        if longestNumber >= Self.shortestNumber { return true }
        if count >= Self.shortestMixed, digitChanges >= Self.fewestMixedChanges { return true }
        // Words in camel case change too, but less often.
        if count >= Self.shortestOpaque, changes * 2 > count { return true }
        return count >= Self.longestWord && digits > 0
    }
}

/// The features of a whole segment of a path.
private struct SegmentLook {
    private(set) var digits = 0
    private var capitals = 0
    private var smallLetters = 0
    private var hasForeignBytes = false
    private var hasMarks = false
    private let isUUID: Bool
    private let count: Int

    private static let shortestMixed = 10
    private static let fewestMixedDigits = 2
    private static let longestVersion = 6

    init(_ segment: ArraySlice<UInt8>) {
        count = segment.count
        for byte in segment {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"): smallLetters += 1
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): capitals += 1
            case UInt8(ascii: "%"), UInt8(ascii: "@"), UInt8(ascii: "="), 0x80...: hasForeignBytes = true
            case UInt8(ascii: "-"), UInt8(ascii: "_"): break  // They join words, and occur in encoded numbers.
            default: hasMarks = true
            }
        }
        isUUID = Self.isUUID(segment)
    }

    /// Whether no part of the segment can be recognized as a word.
    var isOpaque: Bool {
        if hasForeignBytes || isUUID { return true }
        guard count >= Self.shortestMixed, !hasMarks else { return false }
        return digits >= Self.fewestMixedDigits && capitals > 0 && smallLetters > 0
    }

    /// Whether the segment is a version of an interface, such as `v2` or `v1.1`.
    static func isVersion(_ segment: some RandomAccessCollection<UInt8>) -> Bool {
        guard (2...longestVersion).contains(segment.count), let first = segment.first,
            ASCII.lowercased(first) == UInt8(ascii: "v")
        else { return false }
        let number = segment.dropFirst()
        return number.first.map(ASCII.isDigit) == true
            && number.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    }

    private static func isUUID(_ segment: ArraySlice<UInt8>) -> Bool {
        let length = 36
        let hyphens = [8, 13, 18, 23]
        guard segment.count == length else { return false }
        return segment.enumerated().allSatisfy { place, byte in
            hyphens.contains(place) ? byte == UInt8(ascii: "-") : ASCII.hexadecimalValue(byte) != nil
        }
    }
}

/// The requests that can be expected to take equally long: those to one route of one server, with one method.
///
/// It is a hash of them, made without a copy of the route, as each request makes one. That two kinds are one by chance does no harm.
struct RequestKind: Hashable {
    private let hash: Int

    init(_ request: HTTPRequest) {
        var hasher = Hasher()
        let origin = request.origin
        hasher.combine(utf8: origin.host)
        hasher.combine(origin.port ?? 0)
        hasher.combine(utf8: request.method.rawValue)
        if let route = request.route {
            hasher.combine(utf8: RouteName.withoutSecrets(route))
        } else {
            PathTemplate.withBytes(of: request.path) { hasher.combine(bytes: $0) }
        }
        hash = hasher.finalize()
    }
}

extension Hasher {
    /// Hashes the bytes of a text, for which characters need not be told apart.
    fileprivate mutating func combine(utf8 text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
