import Foundation
import LoaderChain

@testable import MetricKitReporting

/// A JSON value that tests can create, change and write.
indirect enum JSONTree {
    case object([Member])
    case array([JSONTree])
    case string(String)
    /// A number, as it is written.
    case number(String)
    case word(String)

    struct Member {
        var key: String
        var value: JSONTree
    }

    init(_ node: JSONNode) {
        switch node.kind {
        case .object: self = .object(node.members.map { Member(key: $0.key.text ?? "", value: JSONTree($0.value)) })
        case .array: self = .array(node.elements.map { JSONTree($0) })
        case .string: self = .string(node.text ?? "")
        case .number: self = .number(String(decoding: node.bytes, as: UTF8.self))
        case .yes: self = .word("true")
        case .no: self = .word("false")
        case .null: self = .word("null")
        }
    }

    static func random(_ generator: inout SeededGenerator, depth: Int) -> JSONTree {
        switch Int.random(in: depth > 0 ? 0..<7 : 2..<7, using: &generator) {
        case 0:
            let keys = ["a", "b", "ключ", "", "a\"b", "\n"].shuffled(using: &generator)
            return .object(
                keys.prefix(Int.random(in: 0...4, using: &generator)).map {
                    Member(key: $0, value: random(&generator, depth: depth - 1))
                })
        case 1:
            return .array(
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in random(&generator, depth: depth - 1) })
        case 2: return .string(["", "text", "ä😀", "\u{1}\"\\/", "1,000 ms"].randomElement(using: &generator) ?? "")
        case 3: return .word(["true", "false", "null"].randomElement(using: &generator) ?? "null")
        default:
            let numbers = ["0", "-0", "1", "-17", "3.25", "1e3", "2.5E-4", "123456789012", "9007199254740993", "0.1"]
            return .number(numbers.randomElement(using: &generator) ?? "0")
        }
    }

    /// The text of the value.
    var text: String {
        var generator = SeededGenerator(seed: 0)
        return text(&generator, isPlain: true)
    }

    /// The text of the value, with spaces and escapes at random places.
    func text(_ generator: inout SeededGenerator, isPlain: Bool = false) -> String {
        let space = isPlain ? "" : ["", "", " ", "\n\t", "\r\n "].randomElement(using: &generator) ?? ""
        switch self {
        case .object(let members):
            let inside = members.map {
                JSONTree.quoted($0.key) + space + ":" + $0.value.text(&generator, isPlain: isPlain)
            }
            return "{" + space + inside.joined(separator: ",") + "}" + space
        case .array(let elements):
            let inside = elements.map { space + $0.text(&generator, isPlain: isPlain) }
            return "[" + inside.joined(separator: ",") + space + "]"
        case .string(let text): return JSONTree.quoted(text)
        case .number(let text), .word(let text): return text
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case ..<" ": quoted += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    static func damage(_ text: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !text.isEmpty else { return }
        let place = Int.random(in: text.indices, using: &generator)
        let mark = Array("{}[],:\"\\ \n0123456789eE+-.truefalsn/u".utf8).randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: text[place] = mark
        case 1: text.insert(mark, at: place)
        case 2: text.remove(at: place)
        case 3: text[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 4: text.removeLast(text.count - place)
        default: text.swapAt(place, Int.random(in: text.indices, using: &generator))
        }
    }

    /// Whether a text contains valid JSON that Foundation rejects.
    static func isBeyondFoundation(_ text: [UInt8]) -> Bool {
        let text = String(decoding: text, as: UTF8.self).lowercased()
        return text.contains("\\ud") || text.contains(/[0-9]e/)
    }

    /// Whether a text contains invalid JSON that Foundation accepts: a comma after the last of several values.
    static func isLeniencyOfFoundation(_ text: [UInt8]) -> Bool {
        String(decoding: text, as: UTF8.self).contains(/,\s*[\]}]/)
    }

    static func same(_ node: JSONNode, _ other: Any) -> Bool {
        switch other {
        case is NSNull: return node.kind == .null
        case let other as String: return node.text == other
        case let other as [Any]:
            let elements = Array(node.elements)
            return node.kind == .array && elements.count == other.count
                && zip(elements, other).allSatisfy { same($0, $1) }
        case let other as [String: Any]:
            guard node.kind == .object else { return false }
            return Set(node.members.compactMap { $0.key.text }) == Set(other.keys)
                && other.allSatisfy { key, value in node[key].map { same($0, value) } ?? false }
        case let other as NSNumber:
            if let bool = node.bool { return other.boolValue == bool }
            // A value beyond everything that is measured is not a number here.
            let isBeyond = abs(other.doubleValue) > 1e30 || abs(other.doubleValue) < 1e-30
            return node.kind == .number && node.number.map { $0.double == other.doubleValue } ?? isBeyond
        default: return false
        }
    }
}
