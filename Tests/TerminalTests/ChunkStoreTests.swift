import Foundation
import LoaderChain
import TestServers
import Testing

@testable import LoaderChainURLSession

/// Bytes come out in the order in which they went in, from memory and from the file.
@Suite(.timeLimit(.minutes(10))) struct ChunkStoreTests {
    @Test(arguments: 0..<50)
    func randomReadsAndWritesKeepByteOrder(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var store = ChunkStore(memoryLimit: 300)
        var written = Data()
        var read = Data()
        for _ in 0..<300 {
            if random.next() % 3 != 0 {
                let piece = pattern(Int(random.next() % 120) + 1)
                written.append(piece)
                try store.write(piece)
            } else {
                for _ in 0..<random.next() % 5 {
                    guard let piece = try store.read() else {
                        #expect(read == written)
                        break
                    }
                    #expect(!piece.isEmpty)
                    read.append(piece)
                }
            }
            #expect(written.starts(with: read))
            #expect(store.isEmpty == (read.count == written.count))
        }
        while let piece = try store.read() { read.append(piece) }
        #expect(read == written)
    }

    @Test func chunkLargerThanMemoryLimitIsStored() throws {
        var store = ChunkStore(memoryLimit: 10)
        try store.write(pattern(100))
        try store.write(pattern(50))
        #expect(try store.read() == pattern(100))
        #expect(try store.read() == pattern(50))
        #expect(try store.read() == nil)
    }
}
