// JSON: an index of a text, and exact numbers. Depends on no other folder; all others may use it.

import LoaderChainPlatformFoundation

/// A JSON text and an index of its values.
///
/// The text is read once, without recursion, so that its depth costs memory on the heap and nothing on the stack: call stacks
/// nest deeper than what Foundation's readers accept. A value is an entry in a table, in the order of the text; those inside
/// it follow it. Nothing is converted until it is asked for.
final class JSONDocument: Sendable {
    enum Kind: UInt8 {
        case object, array, string, number, yes, no, null
    }

    /// Where a value lies.
    struct Entry {
        /// The first byte of the value.
        var start: UInt32
        /// The byte after its last one.
        var end: UInt32
        /// The entry after those of everything inside the value.
        var next: UInt32
        var kind: Kind
    }

    /// The text in UTF-8, whatever it came in.
    let bytes: [UInt8]
    let entries: [Entry]

    /// Reads a text that holds one value, in UTF-8, or in UTF-16 or UTF-32 with a mark of byte order.
    init(_ bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONProblem) {
        // Counted before anything is copied. A text of UTF-16 becomes half as long again at most.
        guard bytes.count <= limits.bytes else { throw JSONProblem(reason: .tooLong, offset: limits.bytes) }
        self.bytes = try Self.utf8(bytes)
        entries = try JSONIndexer.index(self.bytes, limits)
    }

    /// Systems write UTF-8, but a file may have passed through a program that saves another encoding.
    private static func utf8(_ bytes: [UInt8]) throws(JSONProblem) -> [UInt8] {
        guard let encoding = marks.first(where: { bytes.starts(with: $0.mark) })?.encoding else { return bytes }
        // Foundation passes over an incomplete character at the end.
        guard bytes.count.isMultiple(of: encoding == .utf32 ? 4 : 2),
            let text = String(data: Data(bytes), encoding: encoding)
        else { throw JSONProblem(reason: .encoding, offset: 0) }
        return Array(text.utf8)
    }

    /// The marks of byte order; one of UTF-32 may begin as one of UTF-16 does.
    private static let marks: [(mark: [UInt8], encoding: String.Encoding)] = [
        ([0xFF, 0xFE, 0, 0], .utf32), ([0, 0, 0xFE, 0xFF], .utf32), ([0xFF, 0xFE], .utf16), ([0xFE, 0xFF], .utf16),
    ]

    /// The value of the whole text.
    var root: JSONNode { JSONNode(document: self, index: 0) }
}

/// The reason why a text cannot be read as JSON.
struct JSONProblem: Error, Hashable, CustomStringConvertible {
    enum Reason: String {
        case unexpected = "there is something that does not belong"
        case unfinished = "the text breaks off"
        case text = "a string is not valid"
        case encoding = "the bytes are not text in the encoding that their byte order mark announces"
        case number = "a number is not valid"
        case trailing = "something follows the value"
        case tooLong = "the text is longer than the 64 MiB that are read"
        case tooDeep = "there are more than the 65,536 objects and arrays inside each other that are read"
        case tooMany = "there are more than the 4,194,304 values that are read"

        /// Whether the text may be JSON, but exceeds a limit.
        var isLimit: Bool { self == .tooLong || self == .tooDeep || self == .tooMany }
    }

    let reason: Reason
    /// The byte offset in the UTF-8 text.
    let offset: Int

    var description: String { "\(reason.rawValue), at byte \(offset)" }
}

/// The limits beyond which a text is refused, so that a hostile one cannot exhaust the memory.
///
/// A real payload is a thousand times smaller than each of these: the largest that are known have a few megabytes, a few
/// hundred thousand values, and call stacks a few thousand frames deep.
struct JSONLimits: Sendable {
    /// The most bytes of a text.
    var bytes = 64 << 20
    /// The most objects and arrays inside each other.
    var depth = 1 << 16
    /// The most values, each of which needs sixteen bytes while the text is read.
    var values = 1 << 22

    static let standard = JSONLimits()

    /// The most diagnostics, signposts or leftovers of a payload.
    static let kept = 1 << 14
    /// The most frames of a call stack that are kept.
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

    /// Whether it is this string.
    func isText(_ text: String) -> Bool {
        let entry = entry
        let length = Int(entry.end) - Int(entry.start) - 2
        guard entry.kind == .string, length >= text.utf8.count else { return false }
        if length == text.utf8.count {
            var place = Int(entry.start)
            return text.utf8.allSatisfy { byte in
                place += 1
                return document.bytes[place] == byte
            }
        }
        // A character may be written as an escape, which is longer.
        let inside = bytes.dropFirst().dropLast()
        return inside.contains(JSONText.backslash) && JSONText.text(inside) == text
    }

    /// The values of an array; empty for any other value.
    var elements: Elements { Elements(document, kind == .array ? index + 1..<Int(entry.next) : 0..<0) }

    /// The keys and values of an object; empty for any other value.
    var members: Members { Members(values: Elements(document, kind == .object ? index + 1..<Int(entry.next) : 0..<0)) }

    /// The value of a key; the last one of several.
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
