import LoaderChain
import Testing

@testable import LineProtocol

@Suite(.timeLimit(.minutes(10))) struct LineBytesTests {
    /// Random bytes at random positions, compared with an array.
    @Test func putMatchesArrayModel() {
        var maker = PointMaker(seed: 71)
        for _ in 0..<300 {
            var bytes = LineBytes(capacity: 0)
            var model: [UInt8] = []
            for _ in 0..<60 {
                let place = Int.random(in: 0...model.count, using: &maker.generator)
                let new: [UInt8]
                switch Int.random(in: 0..<5, using: &maker.generator) {
                case 0:
                    new = [UInt8.random(in: 0...255, using: &maker.generator)]
                    bytes.put(new[0], at: place)
                case 1:
                    let word = UInt64.random(in: 0...UInt64.max, using: &maker.generator)
                    new = (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
                    bytes.put(word, at: place)
                case 2:
                    let text = maker.text(upTo: 40)
                    new = Array(text.utf8)
                    let found = bytes.put(text, at: place, specials: ByteWord.namesSpecials)
                    let isSpecial: (UInt8) -> Bool = { $0 <= 0x20 || [0x2C, 0x3D, 0x5C, 0x7F].contains($0) }
                    #expect(found.count == new.count && found.isPlain == !new.contains(where: isSpecial))
                    #expect(found.leading == new.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
                case 3:
                    let number = maker.integer()
                    new = Array(String(number).utf8)
                    #expect(bytes.put(decimal: number, at: place) == place + new.count)
                default:
                    new = Array(maker.text(upTo: 200).utf8)
                    #expect(bytes.put(new, at: place) == place + new.count)
                }
                model.replaceSubrange(place..., with: new)
                bytes.end(at: model.count)
                #expect(bytes.withUnsafeBytes { Array($0) } == model)
            }
            let copy = LineBytes(copying: bytes)
            #expect(copy.withUnsafeBytes { Array($0) } == model)
        }
    }

    /// A writer owns its storage, so using it with another encoder can produce wrong lines, but no memory error.
    @Test func writerOutlivesItsEncoder() {
        var outer = LineEncoder()
        outer.append("outer", timestamp: nil) { tags in
            var inner: LineEncoder? = LineEncoder()
            inner?.append("inner", timestamp: nil) { others in
                swap(&tags, &others)
            } fields: { fields in
                fields.set("a", 1)
            }
            inner = nil
            for number in 0..<1_000 { tags.set("key\(1_000 + number)", "value") }
        } fields: { fields in
            fields.set("b", 2)
        }
        // The two writers were swapped, so each has written to the other's encoder, one of which is gone.
        #expect(outer.count < 100)
    }
}
