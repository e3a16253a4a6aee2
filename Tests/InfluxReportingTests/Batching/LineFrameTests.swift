import LoaderChain
import Testing

@testable import InfluxReporting

/// Reading the lines of intact and damaged blocks.
@Suite(.timeLimit(.minutes(10))) struct LineFrameTests {
    private static let salt: UInt64 = 0x1234_5678_9ABC_DEF0

    private static func block(_ lines: [String], salt: UInt64 = salt) -> [UInt8] {
        lines.flatMap { line -> [UInt8] in
            let bytes = Array(line.utf8)
            return [UInt8](unsafeUninitializedCapacity: LineFrame.length(of: bytes.count)) { buffer, count in
                bytes.withUnsafeBytes { bytes in
                    if let base = buffer.baseAddress {
                        let checksum = LineFrame.checksum(of: bytes, salt: salt)
                        LineFrame.write(bytes, checksum: checksum, at: UnsafeMutableRawPointer(base))
                    }
                }
                count = LineFrame.length(of: bytes.count)
            }
        }
    }

    private static func read(_ block: [UInt8]) -> (lines: [String], damagedBytes: Int) {
        block.withUnsafeBytes { bytes in
            let reader = FrameReader(bytes, salt: salt)
            return (reader.lines.map { String(decoding: bytes[$0], as: UTF8.self) }, reader.damagedBytes)
        }
    }

    private static let lines = [
        "a i=1\n", "b s=\"with\na newline\" 2\n", "c i=3i\n", "d long=\(String(repeating: "x", count: 99))\n",
    ]

    @Test func writtenLinesAreReadDespiteTrailingZeros() {
        #expect(Self.read(Self.block(Self.lines)) == (Self.lines, 0))
        #expect(Self.read(Self.block(Self.lines) + [UInt8](repeating: 0, count: 5_000)) == (Self.lines, 0))
        #expect(Self.read([]) == ([], 0))
        #expect(Self.read([UInt8](repeating: 0, count: 100)) == ([], 0))
    }

    @Test func truncatedBlockKeepsCompleteLines() {
        let block = Self.block(Self.lines)
        var ends: [Int] = []
        for line in Self.lines { ends.append((ends.last ?? 0) + LineFrame.length(of: line.utf8.count)) }
        for length in 0...block.count {
            let whole = ends.filter { $0 <= length }.count
            // Bytes that end with a newline may be a damaged line, so they are reported.
            let cut = block[(ends.last { $0 <= length } ?? 0)..<length]
            let damage = cut.count > LineFrame.headLength && cut.last == UInt8(ascii: "\n") ? cut.count : 0
            let isRight = Self.read(Array(block[..<length])) == (Array(Self.lines[..<whole]), damage)
            let withRoom = Array(block[..<length]) + [UInt8](repeating: 0, count: 100)
            let isRightWithRoom = Self.read(withRoom) == (Array(Self.lines[..<whole]), damage)
            #expect(isRight && isRightWithRoom, "\(length) bytes")
        }
    }

    @Test func damagedByteLosesOnlyItsLine() {
        let block = Self.block(Self.lines)
        var end = 0
        for (number, line) in Self.lines.enumerated() {
            let frame = end..<(end + LineFrame.length(of: line.utf8.count))
            end = frame.upperBound
            for place in frame {
                for flip: UInt8 in [1, 0x80, 0xFF] {
                    var damaged = block
                    damaged[place] ^= flip
                    let (lines, bytes) = Self.read(damaged)
                    var others = Self.lines
                    others.remove(at: number)
                    #expect(lines == others && bytes == frame.count, "byte \(place)")
                }
            }
        }
    }

    @Test func blockWithoutIntactLinesCountsAsDamaged() {
        var block = Self.block(Self.lines)
        var start = 0
        for line in Self.lines {
            block[start + LineFrame.headLength] ^= 1
            start += LineFrame.length(of: line.utf8.count)
        }
        #expect(Self.read(block) == ([], block.count))
        // A text that is not a block, with and without a newline at its end.
        for text in ["some notes", "some notes\nof somebody's\n"] {
            #expect(Self.read(Array(text.utf8)) == ([], text.utf8.count))
        }
    }

    /// Every position looks like the start of a frame that extends to the end, so checking all of them would take minutes.
    @Test func falseFramesAreReadInLinearTime() {
        let block: [UInt8] = [0x0A, 0x0A, 0x0A, 0]
        let many = (0..<(4 << 20)).map { block[$0 % block.count] }
        let found = Self.read(many)
        #expect(found.lines.isEmpty && found.damagedBytes == many.lastIndex { $0 != 0 }.map { $0 + 1 })
    }

    @Test func unwrittenLineDoesNotHideLaterLines() {
        var block = Self.block(Self.lines)
        let first = LineFrame.length(of: Self.lines[0].utf8.count)
        for place in 0..<first { block[place] = 0 }
        #expect(Self.read(block) == (Array(Self.lines[1...]), 0))
    }

    @Test func frameWithForeignSaltIsIgnored() {
        let foreign = Self.block(["evil i=1\n"], salt: 7)
        var block = Self.block(["a s=\""], salt: 1) + foreign + Array("\"\n".utf8)
        #expect(Self.read(block).lines == [])
        block += Self.block(Self.lines)
        #expect(Self.read(block).lines == Self.lines)
    }

    @Test(arguments: 1...200)
    func randomDamageInventsNoLine(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var block = Self.block(Self.lines)
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            let place = Int.random(in: 0..<block.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: block[place] = UInt8.random(in: 0...255, using: &random)
            case 1: block.remove(at: place)
            default: block.insert(0xFF, at: place)
            }
        }
        #expect(Set(Self.read(block).lines).isSubset(of: Set(Self.lines)))
    }

    @Test func fileNameRoundTripsAndOtherSpellingsAreRejected() {
        let file = BlockFile(number: 42, precision: .milliseconds, salt: 0xABC)
        #expect(file.name == "000000000000002a-milliseconds-0000000000000abc.lines")
        #expect(BlockFile(file.name) == file)
        let largest = BlockFile(number: .max, precision: .nanoseconds, salt: .max)
        #expect(BlockFile(largest.name) == largest)
        for name in [
            "", ".lines", "2a-milliseconds-abc.lines", "000000000000002A-milliseconds-0000000000000abc.lines",
            "000000000000002a-milliseconds-0000000000000ABC.lines",
            "+00000000000002a-milliseconds-0000000000000abc.lines", file.name + "x", "x" + file.name,
            "000000000000002a-hours-0000000000000abc.lines",
            "10000000000000000-milliseconds-0000000000000abc.lines",
        ] {
            #expect(BlockFile(name) == nil, "\(name)")
        }
    }
}
