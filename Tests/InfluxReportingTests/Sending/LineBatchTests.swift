import Foundation
import LineProtocol
import LoaderChain
import Testing

@testable import InfluxReporting

@Suite(.timeLimit(.minutes(10))) struct LineBatchTests {
    @Test func lineCanContainNewline() throws {
        let bytes = Data("a f=\"x\ny\"\nb f=1\n".utf8)
        let batch = try #require(LineBatch(bytes: bytes, ends: [10, 16], precision: .seconds))
        #expect(batch.text(of: 0) == "a f=\"x\ny\"")
        #expect(batch.text(of: 1) == "b f=1")
        #expect(batch.range(of: 0..<2) == 0..<16)
    }

    @Test(arguments: [[], [3], [6, 6], [4, 8], [6, 12, 18], [12, 6], [-1, 12], [0, 12]])
    func invalidEndsAreRejected(_ ends: [Int]) {
        #expect(LineBatch(bytes: Data("a f=1\nb f=2\n".utf8), ends: ends, precision: .seconds) == nil)
    }

    @Test func endsCountFromStartOfDataSlice() throws {
        let slice = Data("xxxa f=1\n".utf8).dropFirst(3)
        let batch = try #require(LineBatch(bytes: slice, ends: [6], precision: .seconds))
        #expect(batch.text(of: 0) == "a f=1")
    }

    @Test func subsetOfLinesMakesValidBatch() throws {
        let lines = (0..<20).map { "m f=\($0 * $0 * 37)i \($0)\n" }
        let ends = lines.reduce(into: [Int]()) { $0.append(($0.last ?? 0) + $1.utf8.count) }
        let batch = try #require(
            LineBatch(bytes: Data(lines.joined().utf8), ends: ends, precision: .milliseconds))
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            let chosen = (0..<20).filter { _ in Bool.random(using: &generator) }
            let set = LineSet(chosen.shuffled(using: &generator))
            let part = batch.batch(of: set)
            let text = chosen.map { lines[$0] }.joined()
            #expect(part.bytes == Data(text.utf8))
            #expect(part == LineBatch(bytes: part.bytes, ends: part.ends, precision: .milliseconds))
            #expect(batch.byteCount(of: set) == text.utf8.count)
        }
    }
}
