import Foundation
import LoaderChain
import TestGunzip
import Testing

@testable import LoaderChainGzip

@Suite(.timeLimit(.minutes(10))) struct GzipEncoderTests {
    private let encoder: GzipEncoder

    init() throws { encoder = try #require(GzipEncoder()) }

    @Test(arguments: [0, 1, 2, 17, 65_535, 65_536, 65_537, 1 << 20])
    func incompressibleBytesRoundTripWithSmallOverhead(_ count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        let bytes = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let compressed = try #require(encoder.compressed(bytes))
        #expect(gunzipped(compressed) == bytes)
        // The format allows five bytes for each block of incompressible data, in addition to head and tail.
        #expect(compressed.count <= count + count / 1_000 + 64)
    }

    @Test func encoderCanBeReused() throws {
        for round in 0..<50 {
            let text = Data(String(repeating: "cpu,host=api-\(round) load=0.5 1700000000\n", count: round * 40).utf8)
            #expect(try gunzipped(#require(encoder.compressed(text))) == text)
        }
    }

    @Test func sliceIsCompressedWithoutSurroundingBytes() throws {
        let slice = Data("before|lines|after".utf8)[7..<12]
        #expect(try gunzipped(#require(encoder.compressed(slice))) == Data("lines".utf8))
    }

    @Test func fiftyMebibytesOfLinesRoundTrip() throws {
        var text = Data(capacity: 52 << 20)
        var number = 0
        while text.count < 50 << 20 {
            var block = ""
            for _ in 0..<1_000 {
                block += "APIHealth,host=api-\(number % 8) duration=0.0\(number),bytes=\(number * 37)i \(number)\n"
                number += 1
            }
            text.append(contentsOf: block.utf8)
        }
        let compressed = try #require(encoder.compressed(text))
        #expect(compressed.count < text.count / 3)
        #expect(gunzipped(compressed) == text)
    }

    @Test func encoderWithInvalidLevelIsNil() {
        for _ in 0..<100 { #expect(GzipEncoder(level: 99) == nil) }
    }

    @Test func outputStartsWithGzipHeader() throws {
        #expect(try #require(encoder.compressed(Data("m f=1\n".utf8))).starts(with: [0x1F, 0x8B, 0x08]))
    }
}
