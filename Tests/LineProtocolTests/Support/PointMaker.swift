import LineProtocol
import LoaderChain

/// Generates points from content that is difficult for encoders.
struct PointMaker {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// Pieces of text: special characters, combining marks after them, neighbors of surrogates, line endings of every kind, and
    /// plain letters.
    static let pieces: [String] = [
        ",", "=", " ", "\\", "\"", "#", "_", "\n", "\r", "\r\n", "\t", "\0", "\u{1}", "\u{1F}", "\u{7F}", "\u{80}",
        "\u{85}", "\u{2028}", "\u{301}", ",\u{301}", "=\u{20DD}", " \u{FE0F}", "\u{D7FF}", "\u{E000}", "\u{FFFD}",
        "\u{FFFF}", "\u{10000}", "\u{10FFFF}", "é", "e\u{301}", "👩‍👩‍👧", "🇩🇪", "time", "a", "b", "z", "A", "0", "9", "-",
        "~",
        "\\,", "\\ ", "\\=", "\\\\", "\\n", "host", "value", "some words that are longer than sixteen bytes",
    ]
    static let plain: [String] = ["a", "b", "c", "d", "host", "path", "x1", "/v1/users", "status", "é"]

    mutating func text(upTo most: Int = 6) -> String {
        let pieces = Bool.random(using: &generator) ? Self.plain : Self.pieces
        return (0..<Int.random(in: 0...most, using: &generator)).reduce(into: "") { text, _ in
            text += pieces[Int.random(in: pieces.indices, using: &generator)]
        }
    }

    mutating func point() -> Point {
        var tags = Tags()
        for _ in 0..<Int.random(in: 0...5, using: &generator) { tags[text(upTo: 3)] = text() }
        var fields = Fields()
        for _ in 0..<Int.random(in: 0...5, using: &generator) { fields[text(upTo: 3)] = value() }
        return Point(text(), tags: tags, fields: fields, timestamp: timestamp())
    }

    mutating func value() -> FieldValue {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: .double(double())
        case 1: .float(Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &generator)))
        case 2: .integer(integer())
        case 3: .unsigned(UInt64(bitPattern: integer()))
        case 4: .boolean(Bool.random(using: &generator))
        default: .string(text(upTo: 9))
        }
    }

    mutating func double() -> Double {
        let bits = UInt64.random(in: 0...UInt64.max, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return Double(bitPattern: bits)
        case 1: return Double(Int64(bitPattern: bits) >> Int64(bits & 63))
        case 2: return Double(Int32(truncatingIfNeeded: bits)) / 1_000
        case 3: return Double(bitPattern: bits & 0x7FF0_0000_0000_0000)  // A power of two: the gaps change.
        case 4: return Double(bitPattern: bits & 0xFFFF_FFFF).nextUp  // The smallest doubles.
        case 5: return Double.greatestFiniteMagnitude.nextDown * Double(bits & 1)
        case 6: return [0, -0.0, .nan, .infinity, -.infinity, 1e22, 1e23, 9_007_199_254_740_994][Int(bits & 7)]
        default: return Double.random(in: -1...1, using: &generator)
        }
    }

    mutating func integer() -> Int64 {
        let bits = Int64.random(in: .min ... .max, using: &generator)
        return Bool.random(using: &generator)
            ? bits >> (bits & 63) : [.min, .max, 0, -1, .min + 1, 10, 99, 100][Int(bits & 7)]
    }

    mutating func timestamp() -> Timestamp? {
        let edges: [Int64] = [.min, .min + 1, .min + 2, .max, .max - 1, 0, -1, -1_000_000]
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return nil
        case 1: return Timestamp(nanoseconds: edges[Int.random(in: edges.indices, using: &generator)])
        default: return Timestamp(nanoseconds: integer())
        }
    }
}
