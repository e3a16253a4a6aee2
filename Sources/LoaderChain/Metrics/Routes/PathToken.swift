/// A run of letters and digits in a path: a word, or an identifier.
struct PathToken {
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
struct SegmentLook {
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
