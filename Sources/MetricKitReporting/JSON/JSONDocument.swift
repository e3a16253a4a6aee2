// JSON: an index of a text, and exact numbers. Depends on no other folder; all others may use it.

import LoaderChainPlatformFoundation

/// A JSON text and an index of its values.
///
/// The text is read once, without recursion, so that nesting costs memory on the heap and not on the stack: call stacks
/// nest deeper than Foundation's parsers accept. A value is an entry in a table, in the order of the text, followed by its inner
/// values. Values are converted on access.
final class JSONDocument: Sendable {
    enum Kind: UInt8 {
        case object, array, string, number, yes, no, null
    }

    /// The position of a value.
    struct Entry {
        /// The first byte of the value.
        var start: UInt32
        /// The byte after its last one.
        var end: UInt32
        /// The index of the entry after all inner values.
        var next: UInt32
        var kind: Kind
    }

    /// The text, converted to UTF-8.
    let bytes: [UInt8]
    let entries: [Entry]

    /// Reads a text with a single value, in UTF-8, or in UTF-16 or UTF-32 with a byte order mark.
    init(_ bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONProblem) {
        // Checked before anything is copied. A text in UTF-16 grows by half at most.
        guard bytes.count <= limits.bytes else { throw JSONProblem(reason: .tooLong, offset: limits.bytes) }
        self.bytes = try Self.utf8(bytes)
        entries = try JSONIndexer.index(self.bytes, limits)
    }

    /// Converts a text to UTF-8, which systems write; another program may have saved the file in another encoding.
    private static func utf8(_ bytes: [UInt8]) throws(JSONProblem) -> [UInt8] {
        guard let encoding = marks.first(where: { bytes.starts(with: $0.mark) })?.encoding else { return bytes }
        // Foundation ignores an incomplete character at the end.
        guard bytes.count.isMultiple(of: encoding == .utf32 ? 4 : 2),
            let text = String(data: Data(bytes), encoding: encoding)
        else { throw JSONProblem(reason: .encoding, offset: 0) }
        return Array(text.utf8)
    }

    /// The byte order marks; those of UTF-32 come first, because one of them begins like one of UTF-16.
    private static let marks: [(mark: [UInt8], encoding: String.Encoding)] = [
        ([0xFF, 0xFE, 0, 0], .utf32), ([0, 0, 0xFE, 0xFF], .utf32), ([0xFF, 0xFE], .utf16), ([0xFE, 0xFF], .utf16),
    ]

    var root: JSONNode { JSONNode(document: self, index: 0) }
}

/// The reason why a text cannot be read as JSON.
struct JSONProblem: Error, Hashable, CustomStringConvertible {
    enum Reason: String {
        case unexpected = "an unexpected character"
        case unfinished = "an unexpected end"
        case text = "an invalid string"
        case encoding = "bytes that are not valid in the encoding of the byte order mark"
        case number = "an invalid number"
        case trailing = "characters after the value"
        case tooLong = "more than 64 MiB"
        case tooDeep = "more than 65,536 nested objects and arrays"
        case tooMany = "more than 4,194,304 values"

        /// Whether the text may be JSON, but exceeds a limit.
        var isLimit: Bool { self == .tooLong || self == .tooDeep || self == .tooMany }
    }

    let reason: Reason
    /// The byte offset in the UTF-8 text.
    let offset: Int

    var description: String { "\(reason.rawValue), at byte \(offset)" }
}

/// The limits for a text, so that a hostile one cannot exhaust the memory.
///
/// Each limit is more than ten times that of a real payload: the largest known payloads have a few megabytes, a few
/// hundred thousand values, and call stacks with a depth of a few thousand frames.
struct JSONLimits: Sendable {
    var bytes = 64 << 20
    var depth = 1 << 16
    /// The maximum number of values, each of which needs sixteen bytes while the text is read.
    var values = 1 << 22

    static let standard = JSONLimits()

    /// The maximum number of diagnostics, of signposts, and of the leftovers of a payload and its diagnostics together.
    static let kept = 1 << 14
    /// The maximum number of frames in a call stack tree.
    static let frames = 1 << 18
}

struct JSONNode: Sendable {
    let document: JSONDocument
    let index: Int

    private var entry: JSONDocument.Entry { document.entries[index] }

    var kind: JSONDocument.Kind { entry.kind }

    var bytes: ArraySlice<UInt8> { document.bytes[Int(entry.start)..<Int(entry.end)] }

    var text: String? { kind == .string ? JSONText.text(bytes.dropFirst().dropLast()) : nil }

    /// The exact value of a number.
    var number: DecimalNumber? { kind == .number ? DecimalNumber(literal: bytes) : nil }

    var bool: Bool? {
        switch kind {
        case .yes: true
        case .no: false
        default: nil
        }
    }

    func isText(_ text: String) -> Bool {
        let entry = entry
        let (length, count) = (Int(entry.end) - Int(entry.start) - 2, text.utf8.count)
        // An escape takes up to six bytes for one. So a long string is not decoded again for every key that is looked up.
        guard entry.kind == .string, length >= count, length <= 6 * count else { return false }
        if length == count {
            var place = Int(entry.start)
            return text.utf8.allSatisfy { byte in
                place += 1
                return document.bytes[place] == byte
            }
        }
        // Escaped characters are longer.
        let inside = bytes.dropFirst().dropLast()
        return inside.contains(JSONText.backslash) && JSONText.text(inside) == text
    }

    /// Whether no value is inside of this one.
    var isEmpty: Bool { Int(entry.next) == index + 1 }

    /// The values of an array; empty for any other value.
    var elements: Elements { Elements(document, kind == .array ? index + 1..<Int(entry.next) : 0..<0) }

    /// The keys and values of an object; empty for any other value.
    var members: Members { Members(values: Elements(document, kind == .object ? index + 1..<Int(entry.next) : 0..<0)) }

    /// The value of a key; the last one if the key occurs several times.
    subscript(key: String) -> JSONNode? {
        var found: JSONNode?
        for (name, value) in members where name.isText(key) { found = value }
        return found
    }

    struct Elements: Sequence, IteratorProtocol {
        private let document: JSONDocument
        private var rest: Range<Int>

        init(_ document: JSONDocument, _ indices: Range<Int>) {
            self.document = document
            rest = indices
        }

        mutating func next() -> JSONNode? {
            guard !rest.isEmpty else { return nil }
            let node = JSONNode(document: document, index: rest.lowerBound)
            rest = Int(node.entry.next)..<rest.upperBound
            return node
        }
    }

    struct Members: Sequence, IteratorProtocol {
        var values: Elements

        mutating func next() -> (key: JSONNode, value: JSONNode)? {
            guard let key = values.next(), let value = values.next() else { return nil }
            return (key, value)
        }
    }
}
