import LoaderChain
import Testing

@testable import LineProtocol

@Suite(.timeLimit(.minutes(10))) struct SmallTextTests {
    @Test func shortStringsAreReadAsTheyAre() {
        guard SmallText.isLayoutKnown else { return }
        var maker = PointMaker(seed: 61)
        var read = 0
        for _ in 0..<20_000 {
            // Some are kept apart although they are short, and some are pieces of longer ones.
            var string = maker.text(upTo: 8)
            if Bool.random(using: &maker.generator) { string.reserveCapacity(100) }
            if Bool.random(using: &maker.generator) { string = String(string.dropFirst()) }
            let bytes = Array(string.utf8)
            guard let text = SmallText(string) else { continue }
            read += 1
            var written: [UInt8] = Array(repeating: 0xAA, count: 16)
            written.withUnsafeMutableBytes { if let base = $0.baseAddress { text.write(to: base) } }
            #expect(Array(written.prefix(text.count)) == bytes && text.count == bytes.count)
            let isName = bytes.contains { $0 <= 0x20 || [0x2C, 0x3D, 0x5C, 0x7F].contains($0) }
            #expect(text.isPlain(ByteWord.namesSpecials) == !isName)
            #expect(text.isPlain(ByteWord.stringsSpecials) == !bytes.contains { [0x22, 0x5C, 0x0A].contains($0) })
        }
        #expect(read > 1_000)
    }

    /// The general way, which is taken where short strings are kept differently, writes the same lines.
    @Test func theGeneralWayWritesTheSame() {
        var maker = PointMaker(seed: 62)
        for number in 0..<5_000 {
            let point = maker.point()
            var quick = LineCore(capacity: 0, dialect: .portable)
            var general = LineCore(capacity: 0, dialect: .portable, readsSmallText: false)
            defer {
                quick.free()
                general.free()
            }
            let written = [quick.write(point, .nanoseconds), general.write(point, .nanoseconds)]
            #expect(written[0] == written[1])
            let texts = [quick, general].map { core in
                Array(UnsafeRawBufferPointer(start: core.base, count: core.count))
            }
            #expect(texts[0] == texts[1], "point \(number): \(point)")
            #expect(quick.repairs == general.repairs)
        }
    }
}
