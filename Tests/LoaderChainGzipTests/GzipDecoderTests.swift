import Foundation
import LoaderChain
import Testing

@testable import LoaderChainGzip

@Suite(.timeLimit(.minutes(10))) struct GzipDecoderTests {
    private static func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        let encoder = try #require(GzipEncoder())
        return [UInt8](try #require(encoder.compressed(Data(bytes))))
    }

    /// The output of a stream that is passed in pieces, and whether it was complete.
    private static func decoded(
        _ stream: [UInt8], pieces: Int = .max, by decoder: GzipDecoder = GzipDecoder()
    ) throws(GzipDecoder.Fault) -> (bytes: [UInt8], isComplete: Bool) {
        var bytes: [UInt8] = []
        var rest = stream[...]
        while !rest.isEmpty {
            let piece = rest.prefix(pieces)
            rest = rest.dropFirst(pieces)
            try decoder.decode(piece) {
                bytes += $0
                return true
            }
        }
        return (bytes, decoder.isComplete)
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 1 << 20], [1 << 10, 65_536, Int.max])
    func compressedBytesRoundTrip(count: Int, pieces: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for bytes in [noise, [UInt8](repeating: 7, count: count)] {
            let (decoded, isComplete) = try Self.decoded(Self.compressed(bytes), pieces: pieces)
            #expect(decoded == bytes && isComplete)
        }
    }

    @Test(arguments: 1...9) func consecutiveMembersAreConcatenated(pieces: Int) throws {
        let stream = try Self.compressed([1, 2, 3]) + Self.compressed([]) + Self.compressed([4]) + [0, 0, 0, 0, 0]
        let (bytes, isComplete) = try Self.decoded(stream, pieces: pieces)
        #expect(bytes == [1, 2, 3, 4] && isComplete)
    }

    @Test func truncatedStreamIsNotComplete() throws {
        let stream = try Self.compressed([UInt8]("cpu load=1 1\ncpu load=2 2\n".utf8))
        for count in 1..<stream.count {
            #expect(try !Self.decoded([UInt8](stream[..<count])).isComplete, "\(count)")
        }
    }

    @Test func garbageAndDamageAreDetected() throws {
        let stream = try Self.compressed([UInt8]("cpu load=1 1\ncpu load=2 2\n".utf8))
        #expect(throws: GzipDecoder.Fault.damaged) { try Self.decoded([UInt8]("nonsense".utf8)) }
        #expect(throws: GzipDecoder.Fault.damaged) { try Self.decoded([0x1F, 0x8B] + [UInt8]("nonsense".utf8)) }
        #expect(throws: GzipDecoder.Fault.damaged) { try Self.decoded(stream + [UInt8]("nonsense".utf8)) }
        // Zeros are padding after a member, but not before the first.
        #expect(throws: GzipDecoder.Fault.damaged) { try Self.decoded([0, 0, 0, 0]) }
        #expect(throws: GzipDecoder.Fault.damaged) { try Self.decoded([0] + stream) }
        // After the head, whose time and name are arbitrary, each bit counts.
        for place in 10..<stream.count {
            var damaged = stream
            damaged[place] ^= 0x01
            let isWhole = (try? Self.decoded(damaged).isComplete) ?? false
            #expect(!isWhole, "byte \(place)")
        }
    }

    @Test func decompressionBombIsDecodedInSmallPieces() throws {
        let encoder = try #require(GzipEncoder())
        #expect(encoder.begin())
        let zeros = Data(count: 1 << 20)
        var stream: [UInt8] = []
        for _ in 0..<64 { stream += try #require(encoder.add(zeros)) }
        stream += try #require(encoder.add(Data(), isLast: true))
        #expect(stream.count < 1 << 19)
        var (sum, largest) = (0, 0)
        let decoder = GzipDecoder()
        try decoder.decode(stream[...]) {
            sum += $0.count
            largest = max(largest, $0.count)
            return true
        }
        #expect(sum == 64 << 20 && largest <= 1 << 16 && decoder.isComplete)
    }
}
