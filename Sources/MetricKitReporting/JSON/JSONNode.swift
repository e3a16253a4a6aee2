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
