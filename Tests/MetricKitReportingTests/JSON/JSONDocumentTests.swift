import Foundation
import LoaderChain
import TestSizes
import Testing

@testable import MetricKitReporting

@Suite(.timeLimit(.minutes(10))) struct JSONDocumentTests {
    @Test(arguments: [
        "0", "-0", "12.5e-3", "\"\"", "true", "false", "null", "[]", "{}", " [ 1 , 2 ] ", "{\"a\":{\"b\":[{}]}}",
        "\"\\u00e4\\n\\\"\\/\"", "\"ä€😀\"", "\u{FEFF}1", "[[[]],[]]",
    ])
    func validJSONIsRead(_ text: String) throws {
        let document = try JSONDocument(Array(text.utf8))
        #expect(Int(document.entries[0].next) == document.entries.count)
    }

    @Test(arguments: [
        ("", 0), (" ", 1), ("{", 1), ("[1", 2), ("[1,]", 3), ("{\"a\"}", 4), ("{\"a\":1,}", 7), ("{a:1}", 1), ("01", 1),
        ("1.", 2), ("-", 1), ("+1", 0), (".5", 0), ("1e", 2), ("tru", 3), ("trux", 3), ("\"\\x\"", 2),
        ("\"\\u12g4\"", 2),
        ("\"a", 2), ("\"\n\"", 1), ("1 2", 2), ("]", 0), ("[}", 1), ("{]", 1), ("[1 2]", 3), ("nan", 1), ("NaN", 0),
    ])
    func invalidJSONIsRejectedAtItsOffset(_ text: String, _ offset: Int) {
        let problem = #expect(throws: JSONProblem.self) { try JSONDocument(Array(text.utf8)) }
        #expect(problem?.offset == offset, "\(text): \(problem?.description ?? "")")
    }

    @Test func invalidUTF8IsRejected() {
        for bytes: [UInt8] in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] {
            #expect(throws: JSONProblem.self) { try JSONDocument([0x22] + bytes + [0x22]) }
        }
    }

    @Test func nestingIsReadUpToDepthLimit() throws {
        let depth = JSONLimits.standard.depth
        let document = try JSONDocument(
            Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth))
        #expect(document.entries.count == depth)
        #expect(document.entries.last?.next == UInt32(depth))
        #expect(throws: JSONProblem.self) { try JSONDocument(Array(repeating: UInt8(ascii: "["), count: depth)) }
    }

    @Test func membersAndElementsAreFound() throws {
        let root = try JSONDocument(Array(#"{"a":[1,[2],{"b":3}],"\u0062":4,"c":{},"c":"twice"}"#.utf8)).root
        #expect(root["a"]?.elements.map { String(decoding: $0.bytes, as: UTF8.self) } == ["1", "[2]", #"{"b":3}"#])
        #expect(root["b"]?.number == DecimalNumber(4))
        #expect(root["c"]?.text == "twice")
        #expect(root["d"] == nil)
        #expect(Array(root.elements).isEmpty)
        #expect(root["a"]?["b"] == nil)
        #expect(root.members.map { $0.key.text } == ["a", "b", "c", "c"])
    }

    /// Each escape takes six bytes, for one byte up to three, or twelve for four.
    @Test func escapedKeysAreFound() throws {
        let root = try JSONDocument(
            Array(#"{"\u0061\u0062\u0063":1,"\u00e4\u20ac\ud83d\ude00":2,"\u0061\u0062\u0063\u0064":3}"#.utf8)
        ).root
        #expect(root["abc"]?.number == DecimalNumber(1))
        #expect(root["ä€😀"]?.number == DecimalNumber(2))
        #expect(root["abcd"]?.number == DecimalNumber(3))
        #expect(root["ab"] == nil)
        #expect(root[""] == nil)
    }

    @Test func escapesAreDecoded() throws {
        let text = try JSONDocument(Array(#""a\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00\ud83dx""#.utf8)).root.text
        #expect(text == "a\"\\/\u{8}\u{C}\n\r\tä😀\u{FFFD}x")
    }

    /// Foundation reads the same values from valid texts, and rejects every damaged text that this parser rejects.
    @Test func parserAgreesWithFoundation() {
        let seed: UInt64 = 7
        var generator = SeededGenerator(seed: seed)
        var valid = 0
        let rounds = testSize("METRICKIT_JSON_ROUNDS", usually: 1_500)
        for round in 0..<rounds {
            var text = Array(JSONTree.random(&generator, depth: 4).text(&generator).utf8)
            #if !canImport(Darwin)
                // What the parser of Apple systems takes for damage is not known.
                for _ in 0..<Int.random(in: 0...1, using: &generator) { JSONTree.damage(&text, &generator) }
            #endif
            let ours = try? JSONDocument(text)
            let theirs = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            guard let ours, let theirs else {
                // Foundation rejects half surrogate pairs, and numbers that exceed every double.
                let isAgreed =
                    theirs == nil
                    ? ours == nil || JSONTree.isBeyondFoundation(text) : JSONTree.isLeniencyOfFoundation(text)
                if !isAgreed { Issue.record("seed \(seed), round \(round): \(String(decoding: text, as: UTF8.self))") }
                continue
            }
            valid += 1
            if !JSONTree.same(ours.root, theirs) {
                Issue.record("seed \(seed), round \(round): \(String(decoding: text, as: UTF8.self)) is not \(theirs)")
            }
        }
        #expect(valid > rounds / 3)
    }
}
