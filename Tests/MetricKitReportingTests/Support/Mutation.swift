import LoaderChain

/// Random changes to a payload.
enum Mutation {
    /// The value with one random change: a part dropped, of another type, in another order, cut off or nested.
    static func mutated(_ tree: JSONTree, _ others: [JSONTree], _ generator: inout SeededGenerator) -> JSONTree {
        // Mostly further inside, because most values are there.
        switch tree {
        case .object(var members) where !members.isEmpty && Int.random(in: 0..<5, using: &generator) > 0:
            let index = Int.random(in: members.indices, using: &generator)
            members[index].value = mutated(members[index].value, others, &generator)
            return .object(members)
        case .array(var elements) where !elements.isEmpty && Int.random(in: 0..<5, using: &generator) > 0:
            let index = Int.random(in: elements.indices, using: &generator)
            elements[index] = mutated(elements[index], others, &generator)
            return .array(elements)
        default: return changed(tree, others, &generator)
        }
    }

    private static func changed(
        _ tree: JSONTree, _ others: [JSONTree], _ generator: inout SeededGenerator
    ) -> JSONTree {
        switch (tree, Int.random(in: 0..<8, using: &generator)) {
        case (.object(var members), 0...2) where !members.isEmpty:
            members.remove(at: Int.random(in: members.indices, using: &generator))
            return .object(members)
        case (.object(let members), 3): return .object(members.shuffled(using: &generator))
        case (.object(var members), 4) where !members.isEmpty:
            let (from, to) = (
                Int.random(in: members.indices, using: &generator), Int.random(in: members.indices, using: &generator)
            )
            members[from].key = members[to].key
            return .object(members)
        case (.array(var elements), 0...1) where !elements.isEmpty:
            elements.remove(at: Int.random(in: elements.indices, using: &generator))
            return .array(elements)
        case (.array(let elements), 2): return .array(elements.shuffled(using: &generator))
        case (.array(let elements), 3): return .array(elements + elements.prefix(2))
        case (.string(let text), 0...2): return .string(changed(text, &generator))
        case (.string(let text), 3): return .number(text.filter(\.isASCII).filter(\.isNumber).isEmpty ? "7" : "12")
        case (.number(let text), 0...2):
            return .string(text + ([" ms", " kB", "", " sec"].randomElement(using: &generator) ?? ""))
        case (.number, 3): return .number(odd.randomElement(using: &generator) ?? "0")
        case (_, 5):
            return (0..<Int.random(in: 1...60, using: &generator)).reduce(tree) { inner, _ in .array([inner]) }
        case (_, 6): return .object([.init(key: "value", value: tree), .init(key: "unit", value: .string("ms"))])
        case (_, 7): return part(of: others[Int.random(in: others.indices, using: &generator)], &generator)
        default: return .word(["null", "true", "false"].randomElement(using: &generator) ?? "null")
        }
    }

    private static let odd = [
        "-1", "0", "1e400", "-0.0", "99999999999999999999", "1.5", "1e-400", "1e18",
        "123456789012345678901234567890123456789012",
    ]

    /// Some value inside another.
    private static func part(of tree: JSONTree, _ generator: inout SeededGenerator) -> JSONTree {
        switch tree {
        case .object(let members):
            guard let member = members.randomElement(using: &generator), Int.random(in: 0..<4, using: &generator) > 0
            else { return tree }
            return part(of: member.value, &generator)
        case .array(let elements):
            guard let element = elements.randomElement(using: &generator) else { return tree }
            return part(of: element, &generator)
        default: return tree
        }
    }

    private static let marks = Array(",. 0123456789'٫٬١٢-+e毫秒 мс\u{A0}\u{200F}\u{301}skB:TZ½∞")

    private static func changed(_ text: String, _ generator: inout SeededGenerator) -> String {
        var characters = Array(text)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let place = Int.random(in: 0...characters.count, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: characters.insert(marks.randomElement(using: &generator) ?? " ", at: place)
            case 1 where place < characters.count: characters.remove(at: place)
            default: characters.removeLast(characters.count - max(place, 1) > 0 ? characters.count - max(place, 1) : 0)
            }
        }
        return String(characters)
    }

    /// A byte changed or removed, or everything after it removed.
    static func damageBytes(_ text: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !text.isEmpty else { return }
        for _ in 0..<Int.random(in: 1...3, using: &generator) { JSONTree.damage(&text, &generator) }
    }
}
