/// Reduces a path to the part that all users share: `/users/{id}/orders/{id}`.
///
/// A whole segment becomes `{id}` if it cannot be a word of an interface: it is longer than 64 bytes, is a UUID, has
/// percent-encoded bytes, an at sign or an equals sign, or mixes capitals, small letters and digits. Otherwise the segment is
/// split at its punctuation, and the numbers and opaque parts become `{id}`. A version such as `v2` stays. Everything after a
/// semicolon, and from the seventeenth segment on, is dropped.
enum PathTemplate {
    private static let longestSegment = 64
    private static let mostSegments = 16
    private static let placeholder = Array("{id}".utf8)

    /// The template of a percent-encoded path.
    static func of(_ path: String) -> String {
        var path = path
        let bytes = path.withUTF8(template)
        return bytes.isEmpty ? path : String(decoding: bytes, as: UTF8.self)
    }

    /// The template of a path; empty if that is the path itself, which most paths are.
    private static func template(of path: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var template: [UInt8] = []
        var start = 1
        if path.first != PathByte.slash {
            template.append(PathByte.slash)
            start = 0
        }
        for _ in 0..<mostSegments {
            var end = start
            var seen: UInt8 = 0
            while end < path.count, path[end] != PathByte.slash {
                seen |= PathByte.kind(of: path[end])
                end += 1
            }
            let isShortWord = seen & ~PathByte.joinsWords == 0 && end - start < shortestOpaque
            if isShortWord || isVersion(path[start..<end]) {
                if !template.isEmpty { template += path[start..<end] }
            } else {
                if template.isEmpty {
                    // Short numbers are shorter than their placeholder.
                    let roomToGrow = 8
                    template.reserveCapacity(path.count + roomToGrow)
                    template += path[..<start]
                }
                if seen == PathByte.isDigit {
                    template += placeholder
                } else {
                    appendTemplate(of: ArraySlice(path[start..<end]), to: &template)
                }
            }
            if end == path.count { return template }
            if !template.isEmpty { template.append(PathByte.slash) }
            start = end + 1
        }
        return (template.isEmpty ? Array(path[..<start]) : template) + [UInt8(ascii: "*")]
    }

    private static func appendTemplate(of segment: ArraySlice<UInt8>, to template: inout [UInt8]) {
        let segment = segment.prefix { $0 != UInt8(ascii: ";") }
        if isVersion(segment) {
            template += segment
        } else if segment.count > longestSegment || isOpaque(segment) {
            template += placeholder
        } else if segment.count < shortestOpaque, !segment.contains(where: ASCII.isDigit) {
            template += segment
        } else {
            appendTokens(of: segment, to: &template)
        }
    }

    /// Appends the segment with its variable tokens replaced; placeholders that only punctuation separates become one.
    private static func appendTokens(of segment: ArraySlice<UInt8>, to template: inout [UInt8]) {
        var rest = segment
        var placeholderEnd: Int?
        while let first = rest.first {
            let token = rest.prefix(while: ASCII.isAlphanumeric)
            if token.isEmpty {
                template.append(first)
                rest.removeFirst()
                continue
            }
            if !isVariable(token) {
                template += token
                placeholderEnd = nil
            } else if let placeholderEnd {
                template.removeLast(template.count - placeholderEnd)
            } else {
                template += placeholder
                placeholderEnd = template.count
            }
            rest = rest[token.endIndex...]
        }
    }

    // MARK: - What a segment is

    private static let longestVersion = 6
    /// The hyphens of a UUID, and how many bytes it has.
    private static let hyphens = [8, 13, 18, 23]
    private static let lengthOfUUID = 36
    private static let foreignBytes = ASCIISet("%@=")
    private static let shortestMixedSegment = 10

    /// Whether a segment is a version of an interface, such as `v2` or `v1.1`.
    private static func isVersion(_ segment: some RandomAccessCollection<UInt8>) -> Bool {
        guard (2...longestVersion).contains(segment.count), let first = segment.first,
            ASCII.lowercased(first) == UInt8(ascii: "v")
        else { return false }
        let number = segment.dropFirst()
        return number.first.map(ASCII.isDigit) == true
            && number.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    }

    /// Whether no part of a segment can be recognized as a word.
    private static func isOpaque(_ segment: ArraySlice<UInt8>) -> Bool {
        if segment.contains(where: { $0 >= 0x80 || foreignBytes.contains($0) }) || isUUID(segment) { return true }
        // Hyphens and underscores join words, and occur in encoded numbers.
        return segment.count >= shortestMixedSegment
            && segment.allSatisfy { PathByte.kind(of: $0) != PathByte.isOther }
            && segment.count(where: ASCII.isDigit) >= 2
            && segment.contains(where: ASCII.isCapital) && segment.contains(where: ASCII.isSmall)
    }

    private static func isUUID(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.count == lengthOfUUID
            && segment.enumerated().allSatisfy { place, byte in
                hyphens.contains(place) ? byte == UInt8(ascii: "-") : ASCII.hexadecimalValue(byte) != nil
            }
    }

    // MARK: - What a token is

    /// A shorter token without a digit is a word.
    private static let shortestOpaque = 16
    private static let shortestHex = 8
    private static let shortestMixedToken = 8
    private static let fewestMixedChanges = 3
    private static let shortestNumber = 5
    private static let longestWord = 32

    /// Whether to replace a run of letters and digits: a number, a long number within a word, hexadecimal digits, or an opaque mixture.
    private static func isVariable(_ token: ArraySlice<UInt8>) -> Bool {
        let count = token.count
        let digits = token.count(where: ASCII.isDigit)
        if digits == count { return true }
        if count >= shortestHex, token.allSatisfy({ ASCII.hexadecimalValue($0) != nil }) {
            if digits > 0 || count >= shortestOpaque { return true }
        }
        if token.split(whereSeparator: { !ASCII.isDigit($0) }).contains(where: { $0.count >= shortestNumber }) {
            return true
        }
        let neighbours = zip(token, token.dropFirst())
        let digitChanges = neighbours.count { ASCII.isDigit($0) != ASCII.isDigit($1) }
        if count >= shortestMixedToken, digitChanges >= fewestMixedChanges { return true }
        // Words in camel case change too, but less often.
        let caseChanges = neighbours.count {
            !ASCII.isDigit($0) && !ASCII.isDigit($1) && ASCII.isCapital($0) != ASCII.isCapital($1)
        }
        if count >= shortestOpaque, (digitChanges + caseChanges) * 2 > count { return true }
        return count >= longestWord && digits > 0
    }
}

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
    fileprivate static func isCapital(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }
    fileprivate static func isSmall(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }
    fileprivate static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || isCapital(byte) || isSmall(byte) }
}

/// The requests that can be expected to take equally long: those to one route of one server, with one method.
///
/// A kind is known by a hash. It does no harm if two kinds share a hash by chance.
struct RequestKind: Hashable {
    private let hash: Int

    init(_ request: HTTPRequest) {
        var hasher = Hasher()
        hasher.combine(request.origin)
        hasher.combine(request.method)
        hasher.combine(request.routeInMetrics)
        hash = hasher.finalize()
    }
}
