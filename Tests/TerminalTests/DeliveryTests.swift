import DurableFilesTesting
import Foundation
import LoaderChain
import LoaderChainTesting
import TestServers
import Testing

@testable import LoaderChainURLSession

/// Bodies in memory, in files and in chunks.
@Suite(.timeLimit(.minutes(10)), .everyTerminal) struct DeliveryTests {
    @Test func chunkDeliveryIsHedgedOnlyIfAllowed() {
        var request = HTTPRequest(host: "a.test")
        request.delivery = .inMemory(upTo: 10)
        #expect(request.isHedgeable)
        request.delivery = .chunks
        #expect(!request.isHedgeable)
        request.hedging = .allowed
        #expect(request.isHedgeable)
        request.delivery = .file(URL(filePath: "/tmp/film.mp4"))
        #expect(request.isHedgeable)
    }

    @Test func isHedgeableDoesNotDependOnOrderOfSettings() {
        var request = HTTPRequest(host: "a.test")
        request.delivery = .chunks
        request.hedging = .automatic
        #expect(!request.isHedgeable)
        request.delivery = .inMemory
        #expect(request.isHedgeable)
        request.onProgress = { _ in }
        #expect(!request.isHedgeable)
        request.onProgress = nil
        #expect(request.isHedgeable)
        request.hedging = .never
        request.delivery = .inMemory
        #expect(!request.isHedgeable)
    }

    // MARK: Memory

    @Test func announcedSizeBeyondLimitIsRejectedAtOnce() async throws {
        // With a clock that stands still: after a second of the system clock, a rejected exchange ends without its session and
        // its head.
        let site = try Site(responseSizeLimit: 10, timers: ManualTimers())
        // Held after the head, so the rejection cannot depend on the body.
        site.server.route("/big") { _ in .ok(pattern(11)).ofPlainType.held(at: .body(0)) }
        let error = try #require(await site.failure("/big"))
        #expect(error.code == .responseTooLarge)
        #expect(error.response?.status == .ok)
    }

    @Test func unannouncedSizeBeyondLimitIsRejected() async throws {
        let site = try Site(responseSizeLimit: 100_000)
        site.server.route("/big") { _ in .ok(pattern(200_000)).chunked(by: 1000).held(at: .body(150_000)) }
        #expect(await site.failure("/big")?.code == .responseTooLarge)
    }

    @Test func decompressedSizeBeyondLimitIsRejected() async throws {
        let site = try Site(responseSizeLimit: 1000)
        site.server.route("/bomb") { _ in .ok(pattern(1001)).gzipped() }
        #expect(await site.failure("/bomb")?.code == .responseTooLarge)
    }

    @Test func requestLimitOverridesLoaderLimit() async throws {
        let site = try Site(responseSizeLimit: 10)
        site.server.route("/") { _ in .ok(pattern(20)) }
        #expect(try await site.load("/") { $0.delivery = .inMemory(upTo: 20) }.body == pattern(20))
        #expect(await site.failure("/") { $0.delivery = .inMemory(upTo: 19) }?.code == .responseTooLarge)
    }

    @Test(arguments: [(64 << 20, HTTPError.Code.connectionLost), ((64 << 20) + 1, .responseTooLarge)])
    func bodyInMemoryHasAtMost64MebibytesByDefault(_ announced: Int, _ code: HTTPError.Code) async throws {
        let server = try LoopbackServer { client in
            guard client.readHead() != nil else { return }
            client.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(announced)\r\n\r\nhe")
            // The head alone has to end the request, so the connection stays until the client leaves.
            if code == .responseTooLarge { _ = client.readHead() }
        }
        let loader = TestedTerminal.makeUsualLoader(timers: ManualTimers())
        let request = HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port)
        #expect(await loader.failure(request)?.code == code)
    }

    @Test func contentLengthOfHeadIsNotCheckedAgainstLimit() async throws {
        let site = try Site(responseSizeLimit: 10)
        site.server.route("/") { _ in .ok(pattern(20)) }
        #expect(try await site.load("/") { $0.method = .head }.headers["Content-Length"] == "20")
    }

    // MARK: Files

    @Test func fileIsReplacedOnlyWhenComplete() async throws {
        let site = try Site(responseSizeLimit: 10)
        let folder = try TemporaryDirectory()
        let file = try folder.file("result", Data("old".utf8))
        site.server.route("/") { _ in .ok(pattern(300_000)).held(at: .body(200_000)) }
        async let response = site.load("/") { $0.delivery = .file(file) }
        try await site.server.waitForHeld(count: 1)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        site.server.release()
        #expect(try await response.file == file)
        #expect(try await response.body.isEmpty)
        #expect(try Data(contentsOf: file) == pattern(300_000))
        #expect(folder.names == ["result"])
    }

    /// A name may have 255 bytes.
    @Test(arguments: [String(repeating: "\u{3042}", count: 85), String(repeating: "a", count: 255)])
    func longNameOfFileIsUsed(name: String) async throws {
        let site = try Site()
        let folder = try TemporaryDirectory()
        site.server.route("/") { _ in .ok("new") }
        let file = folder.url.appending(path: name)
        #expect(try await site.load("/") { $0.delivery = .file(file) }.file == file)
        #expect(folder.names == [name])
    }

    /// The process's mask decides who may read it, as with any new file.
    @Test func deliveredFileHasTheUsualMode() async throws {
        let site = try Site()
        let folder = try TemporaryDirectory()
        site.server.route("/") { _ in .ok("new") }
        let file = folder.url.appending(path: "result")
        _ = try await site.load("/") { $0.delivery = .file(file) }
        let usual = try folder.file("usual", Data("new".utf8))
        func mode(_ file: URL) throws -> String? {
            try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions].map { "\($0)" }
        }
        #expect(try mode(file) != nil && mode(file) == mode(usual))
    }

    @Test func interruptedFileDownloadLeavesNoFile() async throws {
        let site = try Site()
        let folder = try TemporaryDirectory()
        site.server.route("/") { _ in .ok(pattern(300_000)).hangingUp(at: .body(200_000)) }
        let file = try folder.file("result")
        #expect(await site.failure("/") { $0.delivery = .file(file) }?.code == .connectionLost)
        #expect(folder.names == [])
    }

    @Test func cancelledFileDownloadKeepsOldFile() async throws {
        // With a clock that stands still: after a second of the system clock, a cancelled exchange ends without its session.
        let site = try Site(timers: ManualTimers())
        let folder = try TemporaryDirectory()
        site.server.route("/") { _ in .ok(pattern(300_000)).held(at: .body(200_000)) }
        let file = try folder.file("result", Data("old".utf8))
        let request = site.request("/") { $0.delivery = .file(file) }
        let end = Awaited<HTTPResult?>(nil)
        let task = site.loader.load(request: request) { result in end.change { $0 = result } }
        try await site.server.waitForHeld(count: 1)
        task.cancel()
        #expect(await end.wait { $0 }?.error?.code == .cancelled)
        #expect(folder.names == ["result"])
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test func failureResponseIsNotWrittenToFile() async throws {
        let site = try Site()
        let folder = try TemporaryDirectory()
        site.server.route("/") { _ in .text("gone", status: .notFound) }
        let file = try folder.file("result", Data("old".utf8))
        let response = try await site.load("/") { $0.delivery = .file(file) }
        #expect(response.file == nil)
        #expect(response.body == Data("gone".utf8))
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test func fileThatCannotBeCreatedFailsRequest() async throws {
        let site = try Site()
        let folder = try TemporaryDirectory()
        site.server.route("/") { _ in .ok("x") }
        let nowhere = folder.url.appending(path: "none/result")
        let error = try #require(await site.failure("/") { $0.delivery = .file(nowhere) })
        #expect(error.code == .cannotStoreResponse)
        let directory = folder.url.appending(path: "directory")
        try FileManager.default.createDirectory(
            at: directory.appending(path: "in it"), withIntermediateDirectories: true)
        #expect(await site.failure("/") { $0.delivery = .file(directory) }?.code == .cannotStoreResponse)
        #expect(folder.names == ["directory"])
    }

    // MARK: Chunks

    @Test func chunksArriveBeforeTheBodyIsComplete() async throws {
        let site = try Site()
        site.server.route("/") { _ in .ok("hello").ofPlainType.held(at: .body(2)) }
        let response = try await site.load("/") { $0.delivery = .chunks }
        #expect(response.status == .ok)
        var chunks = try #require(response.chunks).makeAsyncIterator()
        #expect(try await chunks.next() == Data("he".utf8))
        // The bytes arrive before the server has blocked the rest, and an earlier release would miss it.
        try await site.server.waitForHeld(count: 1)
        site.server.release()
        var rest = Data()
        while let chunk = try await chunks.next() { rest.append(chunk) }
        #expect(rest == Data("llo".utf8))
        #expect(try await chunks.next() == nil)
    }

    @Test func deadlineDoesNotEndChunksWhoseHeadHasArrived() async throws {
        let site = try Site()
        let timers = ManualTimers()
        site.server.route("/") { _ in .ok("hello").ofPlainType.held(at: .body(2)) }
        let response = try await site.load("/") {
            $0.delivery = .chunks
            $0.deadline = .after(.seconds(5), on: timers)
        }
        var chunks = try #require(response.chunks).makeAsyncIterator()
        #expect(try await chunks.next() == Data("he".utf8))
        // The bytes arrive before the server has blocked the rest, and an earlier release would miss it.
        try await site.server.waitForHeld(count: 1)
        #expect(timers.pendingCount == 0)
        timers.advance(by: .seconds(10))
        site.server.release()
        var rest = Data()
        while let chunk = try await chunks.next() { rest.append(chunk) }
        #expect(rest == Data("llo".utf8))
    }

    @Test func slowReaderReceivesAllChunks() async throws {
        let site = try Site()
        let size = 5 << 20
        site.server.route("/") { _ in .ok(pattern(size)) }
        let response = try await site.load("/") { $0.delivery = .chunks }
        // Everything has arrived, and most of it is buffered in a file, before the first chunk is read.
        try await site.loader.waitUntilIdle()
        #expect(try await response.chunks?.collect(upTo: size) == pattern(size))
    }

    @Test func interruptedBodyThrowsAfterReceivedChunks() async throws {
        let site = try Site()
        site.server.route("/") { _ in .ok("hello").ofPlainType.hangingUp(at: .body(3)) }
        let chunks = try #require(try await site.load("/") { $0.delivery = .chunks }.chunks)
        var arrived = Data()
        let error = await #expect(throws: HTTPError.self) {
            for try await chunk in chunks { arrived.append(chunk) }
        }
        #expect(arrived == Data("hel".utf8))
        #expect(error?.code == .connectionLost)
    }

    @Test func releasedResponseEndsTransfer() async throws {
        let site = try Site()
        site.server.route("/") { _ in .ok("hello").ofPlainType.held(at: .body(2)) }
        do {
            let response = try await site.load("/") { $0.delivery = .chunks }
            _ = consume response
        }
        try await site.loader.waitUntilIdle()
        try await site.server.waitForOpenConnections(atMost: 0)
    }

    @Test func cancelledReaderEndsTransfer() async throws {
        let site = try Site()
        site.server.route("/") { _ in .ok("hello").ofPlainType.held(at: .body(2)) }
        let chunks = try #require(try await site.load("/") { $0.delivery = .chunks }.chunks)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let reading = Task {
            for try await _ in chunks { start.yield() }
        }
        for await _ in started { break }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        try await site.loader.waitUntilIdle()
    }

    @Test func resetCancelsArrivingChunks() async throws {
        let site = try Site()
        site.server.route("/") { _ in .ok("hello").ofPlainType.held(at: .body(2)) }
        let chunks = try #require(try await site.load("/") { $0.delivery = .chunks }.chunks)
        await site.loader.reset()
        let error = await #expect(throws: HTTPError.self) { for try await _ in chunks {} }
        #expect(error?.code == .cancelled)
    }
}
