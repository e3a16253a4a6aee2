import DurableFilesTesting
import LoaderChainPlatformC
import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct HTTPBodyContentTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func bytes(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    }

    private func collect(_ reader: HTTPBodyReader, upTo count: Int) throws -> Data {
        var reader = reader
        var collected = Data()
        while let piece = try reader.read(upTo: count) {
            #expect(!piece.isEmpty && piece.count <= count && piece.startIndex == 0)
            collected += piece
        }
        #expect(try reader.read(upTo: count) == nil)
        return collected
    }

    @Test func emptyContentHasNoBytes() throws {
        #expect(HTTPBodyContent.empty.length == 0)
        #expect(try HTTPBodyContent.empty.data(upTo: 0) == Data())
    }

    @Test(arguments: [1, 2, 7, 1_000, 100_000])
    func segmentsAreReadInOrder(count: Int) throws {
        let file = try directory.file(bytes(5_000))
        let content = HTTPBodyContent(segments: [
            .data(bytes(10).dropFirst(3)), .data(Data()), .file(try FileSlice(file)),
            .file(try FileSlice(file, bytes: 5..<5)), .file(try FileSlice(file, bytes: 100..<4_321)), .data(bytes(3)),
        ])
        let expected = bytes(10).dropFirst(3) + bytes(5_000) + bytes(5_000)[100..<4_321] + bytes(3)
        #expect(content.length == Int64(expected.count))
        #expect(try collect(content.makeReader(), upTo: count) == expected)
        #expect(try content.data(upTo: expected.count) == expected)
    }

    @Test func copiesOfReaderAreIndependent() throws {
        let content = try HTTPBodyContent.file(directory.file(bytes(100)))
        var reader = content.makeReader()
        _ = try reader.read(upTo: 10)
        let copy = reader
        #expect(try collect(reader, upTo: 7) == bytes(100).dropFirst(10))
        #expect(try collect(copy, upTo: 50) == bytes(100).dropFirst(10))
    }

    @Test func contentOverLimitIsRejected() throws {
        let announced = HTTPBodyContent.data(bytes(11))
        let known = #expect(throws: HTTPBodyError.self) { try announced.data(upTo: 10) }
        let endless = HTTPBodyContent(segments: [.stream(HTTPBodyStream { Data(count: 4) })])
        let found = #expect(throws: HTTPBodyError.self) { try endless.data(upTo: 10) }
        #expect(known?.code == .tooLarge && found?.code == .tooLarge)
    }

    @Test func largeFileIsReadInPieces() throws {
        let length = 64 << 20
        let file = try directory.file(Data())
        #expect(truncate(file.path(percentEncoded: false), off_t(length)) == 0)
        let content = try HTTPBodyContent.file(file)
        #expect(content.length == Int64(length))
        var reader = content.makeReader()
        var total = 0
        while let piece = try reader.read(upTo: .max) {
            #expect(piece.count <= HTTPBodyReader.largestPiece)
            total += piece.count
        }
        #expect(total == length)
    }

    @Test func lengthsTooLargeToAddDoNotTrap() {
        let endless = HTTPBodyContent.Segment.stream(HTTPBodyStream(length: .max) { nil })
        #expect(HTTPBodyContent(segments: [endless, endless]).length == .max)
    }

    // MARK: Files that are not what they were

    @Test func missingFileIsNamedInError() throws {
        let error = try #require(throws: HTTPBodyError.self) {
            try HTTPBodyContent.file(directory.url.appending(path: "no\nne"))
        }
        #expect(error.reason.contains("no\\nne") && error.reason.contains("it does not exist"))
        #expect(error.code == .unreadableFile)
    }

    @Test func urlWithoutRegularFileIsRefused() throws {
        for url in [directory.url, URL(string: "https://example.com/a"), URL(string: "file:///tmp/a%00b")] {
            #expect(throws: HTTPBodyError.self) { try HTTPBodyContent.file(#require(url)) }
        }
        let pipe = directory.url.appending(path: "pipe")
        #expect(mkfifo(pipe.path(percentEncoded: false), 0o600) == 0)
        let error = try #require(throws: HTTPBodyError.self) { try HTTPBodyContent.file(pipe) }
        #expect(error.reason.contains("not a regular file") && error.code == .unreadableFile)
    }

    @Test func rangeOutsideFileIsRejected() throws {
        let file = try directory.file(bytes(10))
        for range in [-1..<3, 5..<11] as [Range<Int64>] {
            #expect(throws: HTTPBodyError.self) { try FileSlice(file, bytes: range) }
        }
        #expect(try FileSlice(file).isWholeFile && !FileSlice(file, bytes: 1..<10).isWholeFile)
    }

    @Test(arguments: [0, 99, 101])
    func fileWithChangedLengthIsRejected(length: Int) throws {
        let file = try directory.file(bytes(100))
        let content = try HTTPBodyContent.file(file)
        _ = try directory.file(bytes(length))
        var reader = content.makeReader()
        let error = try #require(throws: HTTPBodyError.self) { try reader.read(upTo: 10) }
        #expect(error.reason.contains("it has \(length) bytes and had 100"))
        #expect(error.code == .changedFile)
        // A failed reader stays failed.
        #expect(throws: HTTPBodyError.self) { try reader.read(upTo: 10) }
    }

    @Test func fileWithNewModificationDateIsRejected() throws {
        let file = try directory.file(bytes(100))
        let content = try HTTPBodyContent.file(file)
        try directory.touch(file)
        #expect(throws: HTTPBodyError.self) { try content.data(upTo: 100) }
    }

    @Test func fileChangedDuringReadingFailsBeforeLastBytes() throws {
        for length in [50, 150] {
            let file = try directory.file(bytes(100))
            var reader = try HTTPBodyContent.file(file).makeReader()
            #expect(try reader.read(upTo: 60)?.count == 60)
            #expect(truncate(file.path(percentEncoded: false), off_t(length)) == 0)
            #expect(throws: HTTPBodyError.self) { try reader.read(upTo: 40) }
        }
    }

    @Test func fileRemovedBeforeItsTurnFails() throws {
        let file = try directory.file(bytes(5))
        let content = HTTPBodyContent(segments: [.data(bytes(1)), .file(try FileSlice(file))])
        try FileManager.default.removeItem(at: file)
        var reader = content.makeReader()
        #expect(try reader.read(upTo: 9) == bytes(1))
        #expect(throws: HTTPBodyError.self) { try reader.read(upTo: 9) }
    }

    #if os(Linux)
        @Test func oneFileIsOpenAtATime() throws {
            let files = try ["a", "b"].map { try directory.file($0, bytes(10)) }
            let content = HTTPBodyContent(segments: try files.map { .file(try FileSlice($0)) })
            func open() throws -> [Int] { try files.map(openDescriptors) }
            do {
                var reader = content.makeReader()
                #expect(try open() == [0, 0])
                _ = try reader.read(upTo: 5)
                #expect(try open() == [1, 0])
                _ = try reader.read(upTo: 5)
                #expect(try open() == [0, 0])
                _ = try reader.read(upTo: 5)
                #expect(try open() == [0, 1])
            }
            #expect(try open() == [0, 0])
        }
    #endif
}
