import LoaderChain
import TestSizes
import Testing

@testable import LineProtocol

@Suite(.timeLimit(.minutes(10))) struct NumberTextTests {
    static func text(_ number: Double) -> String { write { $0.put(shortest: number, at: 0) } }

    static func write(_ body: (inout LineBytes) -> Int) -> String {
        var bytes = LineBytes(capacity: 0)
        let end = body(&bytes)
        bytes.end(at: end)
        return bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The digits of a text and the exponent of the last digit, independently of the notation.
    static func decimal(_ text: String) -> String {
        let parts = text.split { $0 == "e" || $0 == "E" }
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        var digits = mantissa.joined().drop { $0 == "-" || $0 == "0" }
        var exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - (mantissa.count > 1 ? mantissa[1].count : 0)
        while digits.last == "0" {
            digits.removeLast()
            exponent += 1
        }
        return digits.isEmpty ? "0" : "\(digits)e\(exponent)"
    }

    @Test(
        arguments: [
            (0, "0"), (-0.0, "-0"), (1, "1"), (-1, "-1"), (0.1, "0.1"), (0.25, "0.25"), (100, "100"),
            (1e16, "10000000000000000"),
            (123_456.789, "123456.789"), (0.00001, "0.00001"), (0.000001, "1e-6"), (.leastNonzeroMagnitude, "5e-324"),
            (1e23, "1e23"),
            (1.7976931348623157e308, "1.7976931348623157e308"), (2.2250738585072014e-308, "2.2250738585072014e-308"),
            (9_007_199_254_740_992, "9007199254740992"), (0.3, "0.3"), (2.0 / 3, "0.6666666666666666"),
            (-1.5e300, "-1.5e300"), (1e17, "1e17"), (12_345_678_901_234_568, "12345678901234568"), (1.0e22, "1e22"),
        ] as [(Double, String)])
    func doubleIsWrittenInShortestForm(_ number: Double, _ text: String) {
        #expect(Self.text(number) == text)
    }

    /// Numbers with up to nine places between 10⁻⁵ and 2²² take a fast path.
    @Test func decimalsWithFewPlacesRoundTripInShortestForm() {
        var maker = PointMaker(seed: 12)
        let edges: [Double] = [0.000_01, 4_194_304, 4_194_303.999_999_999, 1e-9, 0.000_009_999_999_999, 0.999_999_999]
        let near = edges.flatMap { [$0, $0.nextUp, $0.nextDown, $0.nextUp.nextUp, $0.nextDown.nextDown] }
        let few = (0..<50_000).map { _ in
            Double(UInt64.random(in: 0..<5_000_000_000_000_000, using: &maker.generator)) / 1e9
        }
        for number in near + few + few.map(\.nextUp) + few.map({ ($0 * 1_000).rounded() / 1e6 }) {
            let text = Self.text(number)
            #expect(Double(text) == number && Self.decimal(text) == Self.decimal(number.description), "\(number)")
        }
    }

    /// The standard library's description is also the shortest form, so it has the same digits.
    @Test func randomDoublesRoundTripInShortestForm() throws {
        var maker = PointMaker(seed: 11)
        for _ in 0..<testSize("LINE_DOUBLES", usually: 100_000) {
            let number = maker.double()
            guard number.isFinite else { continue }
            let text = Self.text(number)
            let back = try #require(Double(decimal: Array(text.utf8)[...]))
            guard Double(text)?.bitPattern == number.bitPattern, back.bitPattern == number.bitPattern,
                Self.decimal(text) == Self.decimal(number.description)
            else {
                Issue.record("\(number.bitPattern) is \(number) and became \(text)")
                return
            }
        }
    }

    @Test func neighboursOfPowersRoundTrip() {
        let powers = (-1_074...1_023).map { Double(sign: .plus, exponent: $0, significand: 1) }
        let tens = (-323...308).compactMap { Double("1e\($0)") }
        for power in powers + tens {
            for number in [power, power.nextUp, power.nextDown] where number.isFinite {
                let text = Self.text(number)
                #expect(Double(text)?.bitPattern == number.bitPattern, "\(number)")
                #expect(Self.decimal(text) == Self.decimal(number.description))
            }
        }
    }

    @Test func integersOfEveryLengthAreWritten() {
        var generator = SeededGenerator(seed: 12)
        var power: UInt64 = 1
        for length in 1...20 {
            for number in [power, power - 1, power + 1, UInt64.random(in: power / 10...power, using: &generator)] {
                #expect(Self.write { $0.put(decimal: number, at: 0) } == String(number), "length \(length)")
            }
            power = power.multipliedReportingOverflow(by: 10).partialValue
        }
        for number in [Int64.min, .max, -1, 0, 1, -99_999_999, -100_000_000] {
            #expect(Self.write { $0.put(decimal: number, at: 0) } == String(number))
        }
        #expect(Self.write { $0.put(decimal: UInt64.max, at: 0) } == String(UInt64.max))
    }

    @Test func byteWordFindsSpecialBytesAtEveryPlace() {
        for byte in 0...UInt8.max {
            for place in 0..<8 {
                for filler: UInt8 in [UInt8(ascii: "a"), 0x80, 0xFF, UInt8(ascii: "~"), UInt8(ascii: "!")] {
                    var word: UInt64 = 0
                    for index in 0..<8 { word |= UInt64(index == place ? byte : filler) << UInt64(8 * index) }
                    let isName = byte <= 0x20 || byte == 0x7F || [0x2C, 0x3D, 0x5C].contains(byte)
                    let isString = [0x22, 0x5C, 0x0A].contains(byte)
                    #expect((ByteWord.namesSpecials(word) != 0) == isName, "byte \(byte)")
                    #expect((ByteWord.stringsSpecials(word) != 0) == isString, "byte \(byte)")
                }
            }
        }
    }
}
