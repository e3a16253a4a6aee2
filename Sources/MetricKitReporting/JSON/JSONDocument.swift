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
        self.bytes = try UTF8Transcoder.utf8(bytes)
        entries = try JSONIndexer.index(self.bytes, limits)
    }

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
