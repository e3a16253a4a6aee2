import Foundation
import LoaderChainTesting
import TestServers
import Testing

@testable import LoaderChain

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

    @Test func chunkThatWasReadIsReleased() throws {
        let log = EventLog()
        var store = ChunkStore()
        for _ in 0..<3 {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 1)
            bytes.initializeMemory(as: UInt8.self, repeating: 0, count: 100)
            try store.write(
                Data(
                    bytesNoCopy: bytes, count: 100,
                    deallocator: .custom { pointer, _ in
                        pointer.deallocate()
                        log.note("released")
                    }))
        }
        _ = try store.read()
        #expect(log.events == ["released"])
    }

    @Test func chunkLargerThanMemoryLimitIsStored() throws {
        var store = ChunkStore(memoryLimit: 10)
        try store.write(pattern(100))
        try store.write(pattern(50))
        #expect(try store.read() == pattern(100))
        #expect(try store.read() == pattern(50))
        #expect(try store.read() == nil)
    }

    #if os(Linux)
        @Test func bytesThatCannotBeReadAgainEndTheChunksWithAnError() async throws {
            let left = EventLog()
            let request = HTTPRequest(host: "a.test")
            let pipe = ChunkPipe(
                onLeave: { left.note("left") },
                failure: { HTTPError(.cannotStoreResponse, request: request, reason: "\($0)") })
            let (first, second) = (pattern(ChunkStore.memoryLimit), pattern(1_000))
            try pipe.write(first)
            try pipe.write(second)
            try emptyChunkFile(of: second)
            #expect(try await pipe.next() == first)
            for _ in 0..<2 {
                let error = await #expect(throws: HTTPError.self) { _ = try await pipe.next() }
                #expect(error?.code == .cannotStoreResponse)
            }
            #expect(left.events == ["left"])
            try pipe.write(second)
            pipe.end(with: .failure(HTTPError(.cancelled, request: request)))
        }

        /// Empties the unlinked file that has these bytes.
        private func emptyChunkFile(of bytes: Data) throws {
            let table = "/proc/self/fd"
            let file = try #require(
                try FileManager.default.contentsOfDirectory(atPath: table).map { "\(table)/\($0)" }.first { file in
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file)
                    guard target?.hasSuffix(".chunks (deleted)") == true else { return false }
                    return FileManager.default.contents(atPath: file) == bytes
                })
            #expect(truncate(file, 0) == 0)
        }
    #endif
}
