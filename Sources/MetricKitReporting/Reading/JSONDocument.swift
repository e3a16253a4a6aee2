/// A JSON text and where each of its values lies in it.
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

    let bytes: [UInt8]
    let entries: [Entry]

    /// Reads a text that holds one value.
    init(_ bytes: [UInt8]) throws(JSONProblem) {
        entries = try JSONIndexer.index(bytes)
        self.bytes = bytes
    }

    /// The value of the whole text.
    var root: JSONNode { JSONNode(document: self, index: 0) }
}

/// What keeps a text from being JSON.
struct JSONProblem: Error, Hashable, CustomStringConvertible {
    enum Reason: String {
        case unexpected = "there is something that does not belong"
        case unfinished = "the text breaks off"
        case text = "a string is not valid"
        case number = "a number is not valid"
        case tooLong = "the text is longer than 4 GiB"
        case trailing = "something follows the value"
    }

    let reason: Reason
    /// How many bytes stand before the place.
    let offset: Int

    var description: String { "\(reason.rawValue), at byte \(offset)" }
}
