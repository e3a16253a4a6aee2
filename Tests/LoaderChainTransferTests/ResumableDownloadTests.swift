import DurableFiles
import DurableFilesTesting
import Foundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResumableDownloadTests {
    private let directory = MemoryDirectory()
    private let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    private let file = URL(filePath: "/films/film")
    private let url = URL(string: "https://films.test/film?signature=secret")!

    private func loader(maximumFailures: Int = 5, flushing: Int64 = 100) -> ResumableDownload {
        var settings = ResumableDownload.Settings()
        settings.maximumFailures = maximumFailures
        settings.bytesBetweenFlushes = flushing
        (settings.firstDelay, settings.maximumDelay) = (.zero, .zero)
        return ResumableDownload(settings, timers: ManualTimers(), random: RandomSource(seed: 1)) { [directory] _ in
            directory
        }
    }

    private func load(
        _ server: DownloadServer, maximumFailures: Int = 5, _ change: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(url: url)
        request.delivery = .file(file)
        change(&request)
        return try await (loader(maximumFailures: maximumFailures) --> server).load(request)
    }

    private func error(_ body: () async throws -> HTTPResponse) async throws -> HTTPError {
        do { _ = try await body() } catch let error as HTTPError { return error }
        throw CocoaError(.featureUnsupported)
    }

    private func expectFile(_ bytes: [UInt8]? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(directory.names == ["film"], sourceLocation: sourceLocation)
        #expect(directory.bytes(of: "film") == Data(bytes ?? self.bytes), sourceLocation: sourceLocation)
    }

    @Test(arguments: [HTTPStatus.accepted, .noContent, .resetContent])
    func successWithoutContentCreatesNoFile(_ status: HTTPStatus) async throws {
        var request = HTTPRequest(url: url)
        request.delivery = .file(file)
        let response = try await (loader() --> MockLoader().then(status)).load(request)
        #expect(response.status == status && response.file == nil && directory.names.isEmpty)
    }

    @Test func fileIsDownloadedInOneResponse() async throws {
        let server = DownloadServer(bytes)
        let response = try await load(server)
        expectFile()
        #expect(response.status == .ok && response.file == file && response.attempts == 1)
        #expect(response.headers["Content-Length"] == "1000" && response.chunks == nil)
        let request = try #require(server.requests.first)
        #expect(request.headers["Accept-Encoding"] == "identity" && !request.headers.contains("Range"))
    }

    @Test func responseCountsBytesThatMetricOfHeadCannotKnow() async throws {
        let server = DownloadServer(bytes)
        server.meet(.cut)
        let log = EventLog()
        let sink = ClosureSink { record in
            if case .request(let metric) = record { log.note("\(metric.bytesReceived as Int64?)") }
        }
        var request = HTTPRequest(url: url)
        request.delivery = .file(file)
        let chain = loader() --> MetricsTap(MetricRecorder(sink)) --> server
        let response = try await chain.load(request)
        expectFile()
        // What came before the cut came with another response.
        let range = try #require(server.requests.last?.headers["Range"])
        let first = try #require(Int64(range.dropFirst("bytes=".count).dropLast()))
        #expect(response.metrics?.bytesReceived == 1_000 - first && response.metrics?.duration == .milliseconds(5))
        await log.waitForEvents(2)
        #expect(log.events == ["nil", "nil"])
    }

    @Test func lostDownloadResumesWithStrongEntityTag() async throws {
        let server = DownloadServer(bytes)
        server.meet(.cut, .endsEarly, .short)
        let response = try await load(server)
        expectFile()
        #expect(response.status == .ok && response.headers["Content-Length"] == "1000")
        #expect(!response.headers.contains("Content-Range"))
        #expect(response.attempts == server.requests.count && server.requests.count == 4)
        #expect(server.requests.dropFirst().allSatisfy { $0.headers["If-Range"] == "\"1\"" })
        #expect(server.requests[1].headers["Range"]?.hasPrefix("bytes=") == true)
    }

    @Test func laterProcessResumesStoppedDownload() async throws {
        let server = DownloadServer(bytes)
        server.meet(.cut)
        let lost = try await error { try await load(server, maximumFailures: 1) }
        #expect(lost.code == .connectionLost && directory.bytes(of: "film") == nil)
        let part = try #require(directory.bytes(of: "film.part"))
        #expect(part == Data(bytes.prefix(part.count)) && !part.isEmpty)
        directory.revive(afterPowerLoss: true)
        _ = try await load(server)
        expectFile()
        #expect(server.requests[1].headers["Range"] == "bytes=\(part.count)-")
    }

    /// Until the new file is complete, the old one is there.
    @Test func existingFileIsReplacedByCompleteFileOnly() async throws {
        let old = Data("old".utf8)
        directory.put(old, at: "film")
        let server = DownloadServer(bytes)
        server.meet(.cut)
        _ = try await error { try await load(server, maximumFailures: 1) }
        #expect(directory.bytes(of: "film") == old)
        _ = try await load(server)
        expectFile()
    }

    /// The queue of the disk may hold the last reference for a moment after the result is known.
    @Test(arguments: ["complete", "kept", "nothing"]) func partFileIsFreeAfterDownloadEnds(how: String) throws {
        let ended = try #require(try PartFile("film", in: directory))
        #expect(try PartFile("film", in: directory) == nil)
        try ended.begin()
        try ended.write(Data(bytes), at: 0)
        let head = HTTPResponse(request: HTTPRequest(url: url), status: .ok, headers: ["ETag": "\"1\""])
        let version = DownloadVersion(head, now: Date())
        switch how {
        case "complete": try ended.finish()
        case "kept": ended.leave(DownloadRecord(subject: "film", version: version, kept: 1_000))
        default: ended.leave(nil)
        }
        try withExtendedLifetime(ended) {
            let next = try #require(try PartFile("film", in: directory))
            #expect((next.left(of: "film") != nil) == (how == "kept"))
        }
    }

    @Test func recordContainsNoAddress() async throws {
        let server = DownloadServer(bytes)
        server.meet(.cut)
        _ = try await error { try await load(server, maximumFailures: 1) }
        let record = String(decoding: try #require(directory.bytes(of: "film.part.json")), as: UTF8.self)
        #expect(record.contains("entityTag") && !record.contains("secret") && !record.contains("films.test"))
    }

    @Test func changedAddressResumesOnlyWithDownloadName() async throws {
        for (name, goesOn) in [(nil, false), ("film", true)] as [(String?, Bool)] {
            let server = DownloadServer(bytes)
            server.meet(.cut)
            _ = try await error { try await load(server, maximumFailures: 1) { $0.downloadName = name } }
            _ = try await load(server) {
                $0.downloadName = name
                $0.query = "signature=newer"
            }
            expectFile()
            #expect(server.requests[1].headers.contains("Range") == goesOn)
            directory.vanish("film")
        }
    }

    @Test func changedPathWithoutHostStartsOver() async throws {
        let server = DownloadServer(bytes)
        server.meet(.cut)
        _ = try await error {
            try await load(server, maximumFailures: 1) {
                $0.url = nil; $0.path = "/a"
            }
        }
        _ = try await load(server) {
            $0.url = nil; $0.path = "/b"
        }
        #expect(!server.requests[1].headers.contains("Range"))
        expectFile()
    }

    @Test func downloadOfChangedFileStartsOver() async throws {
        let server = DownloadServer(bytes)
        server.meet(.cut)
        _ = try await error { try await load(server, maximumFailures: 1) }
        let other = bytes.map { ~$0 }
        server.put(other, headers: ["ETag": "\"2\""])
        _ = try await load(server)
        expectFile(other)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [
        DownloadServer.Fault.wrongStart, .wrongTotal, .wrongTag, .unsatisfiable, .multipart, .coded,
    ])
    func mismatchedPartStartsDownloadOver(_ fault: DownloadServer.Fault) async throws {
        let server = DownloadServer(bytes)
        server.meet(.cut, fault)
        _ = try await load(server)
        expectFile()
        #expect(server.requests.map { $0.headers.contains("Range") } == [false, true, false])
    }

    @Test func tooLongBodyFailsAndCreatesNoFile() async throws {
        let server = DownloadServer(bytes)
        server.meet(.tooLong)
        let error = try await error { try await load(server) }
        #expect(error.code == .invalidResponse && error.loader == "ResumableDownload")
        #expect(directory.bytes(of: "film") == nil)
        _ = try await load(server)
        expectFile()
    }

    @Test(
        arguments: [
            ["ETag": "W/\"1\""], [:], ["ETag": "1"], ["ETag": "\"1\"", "Accept-Ranges": "none"],
            [
                "ETag": "W/\"1\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                "Date": "Sun, 06 Nov 1994 09:49:37 GMT",
            ],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:36 GMT"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], ["ETag": "\"1\"", "Content-Encoding": "br"],
        ] as [HTTPHeaders]) func downloadWithoutAStrongValidatorStartsOver(_ headers: HTTPHeaders) async throws
    {
        let server = DownloadServer(bytes, headers: headers)
        server.meet(.cut)
        _ = try await error { try await load(server, maximumFailures: 1) }
        #expect(directory.names.isEmpty, "what cannot be used is not kept")
        server.meet(.cut)
        _ = try await load(server)
        expectFile()
        #expect(server.requests.allSatisfy { !$0.headers.contains("Range") && !$0.headers.contains("If-Range") })
    }

    @Test func oldLastModifiedIsStrongValidator() async throws {
        let changed = "Sun, 06 Nov 1994 08:49:37 GMT"
        let headers: HTTPHeaders = ["Last-Modified": changed, "Date": "Sun, 06 Nov 1994 08:50:37 GMT"]
        let server = DownloadServer(bytes, headers: headers)
        server.meet(.cut)
        _ = try await load(server)
        expectFile()
        #expect(server.requests[1].headers["If-Range"] == changed)
    }

    @Test func completePartIsFinishedWithOneByteRequest() async throws {
        let server = DownloadServer(bytes)
        // The rename fails, after everything has arrived.
        directory.put([], at: "elsewhere")
        _ = try await load(server)
        let operations = directory.log
        let rename = try #require(operations.lastIndex(of: "renamed film.part")) + 1
        directory.vanish("film")
        directory.vanish("elsewhere")
        directory.cut(.death(at: rename))
        _ = try await error { try await load(server) }
        directory.revive(afterPowerLoss: true)
        _ = try await load(server)
        expectFile()
        #expect(server.requests.last?.headers["Range"] == "bytes=999-")
    }

    @Test func serverFailureKeepsPart() async throws {
        let server = DownloadServer(bytes)
        server.meet(.cut)
        _ = try await error { try await load(server, maximumFailures: 1) }
        server.meet(.unavailable)
        let response = try await load(server, maximumFailures: 1)
        #expect(response.status == 503 && response.file == nil && response.body == Data("later".utf8))
        _ = try await load(server)
        expectFile()
        #expect(server.requests[2].headers.contains("Range"))
    }

    @Test func busyServerIsRetried() async throws {
        let server = DownloadServer(bytes)
        server.meet(.unavailable, .cut, .unavailable, .unavailable)
        #expect(try await load(server, maximumFailures: 4).status == .ok)
        expectFile()
        #expect(server.requests.map { $0.headers.contains("Range") } == [false, false, true, true, true])
        // A loader below may have made an error of the status.
        directory.vanish("film")
        let other = DownloadServer(bytes)
        other.meet(.unavailable)
        var request = HTTPRequest(url: url)
        request.delivery = .file(file)
        #expect(try await (loader() --> Validate(.success) --> other).load(request).status == .ok)
        expectFile()
    }

    /// The status of the rest is another one than that of the whole.
    @Test func checkOfTheWholeAcceptsTheRest() async throws {
        for isOwn in [false, true] {
            let server = DownloadServer(bytes)
            server.meet(.cut)
            var request = HTTPRequest(url: url)
            request.delivery = .file(file)
            if isOwn { request.responseCheck = .statuses(200) }
            let chain = loader() --> Validate(isOwn ? .success : .statuses(200)) --> server
            #expect(try await chain.load(request).status == .ok)
            expectFile()
            #expect(server.requests.count == 2)
            directory.vanish("film")
        }
    }

    @Test func retryAfterIsFollowedUpToMaximum() async throws {
        let timers = ManualTimers()
        let busy = MockLoader().then(.serviceUnavailable, headers: ["Retry-After": "7"])
            .then(.tooManyRequests, headers: ["Retry-After": "86400"]).then(.gatewayTimeout, body: "no")
        var settings = ResumableDownload.Settings()
        settings.maximumFailures = 3
        (settings.firstDelay, settings.maximumRetryAfter) = (.milliseconds(1), .seconds(20))
        let loader = ResumableDownload(settings, timers: timers, random: RandomSource(seed: 1)) { [directory] _ in
            directory
        }
        let chain = loader --> busy
        var request = HTTPRequest(url: url)
        request.delivery = .file(file)
        let sent = request
        let download = Task { try await chain.load(sent) }
        for seconds in [7, 20] {
            await timers.waitForPending(count: 1)
            #expect(timers.nextDeadline == timers.now.advanced(by: .seconds(seconds)))
            timers.advanceToNext()
        }
        let response = try await download.value
        #expect(response.status == .gatewayTimeout && response.body == Data("no".utf8) && directory.names.isEmpty)
    }

    /// With the settings as they are: five failures, and bounds of the random delays that double from a second on.
    @Test func fiveFailuresInRowEndDownload() async throws {
        let timers = ManualTimers()
        let busy = MockLoader()
        for _ in 1...6 { busy.then(.serviceUnavailable) }
        let settings = ResumableDownload.Settings()
        let loader = ResumableDownload(settings, timers: timers, random: RandomSource(seed: 1)) { [directory] _ in
            directory
        }
        let chain = loader --> busy
        var request = HTTPRequest(url: url)
        request.delivery = .file(file)
        let sent = request
        let download = Task { try await chain.load(sent) }
        for seconds in [1, 2, 4, 8] {
            await timers.waitForPending(count: 1)
            let delay = timers.now.duration(to: try #require(timers.nextDeadline))
            let bound = Duration.seconds(seconds)
            #expect(delay > bound / 100 && delay < bound, "\(delay)")
            timers.advanceToNext()
        }
        #expect(try await download.value.status == .serviceUnavailable)
        #expect(busy.details == "handlers 1, in flight 0" && timers.pendingCount == 0)
    }

    /// With the settings as they are.
    @Test func serverMayAskForAMinuteAtMost() async throws {
        let timers = ManualTimers()
        let busy = MockLoader().then(.tooManyRequests, headers: ["Retry-After": "86400"]).then(.notFound)
        let settings = ResumableDownload.Settings()
        let loader = ResumableDownload(settings, timers: timers, random: RandomSource(seed: 1)) { [directory] _ in
            directory
        }
        let chain = loader --> busy
        var request = HTTPRequest(url: url)
        request.delivery = .file(file)
        let sent = request
        let download = Task { try await chain.load(sent) }
        await timers.waitForPending(count: 1)
        #expect(timers.nextDeadline == timers.now.advanced(by: .seconds(60)))
        timers.advanceToNext()
        #expect(try await download.value.status == .notFound)
    }

    @Test func waitCanBeCancelled() async throws {
        let timers = ManualTimers()
        let busy = MockLoader().then(.serviceUnavailable, headers: ["Retry-After": "7"])
        let loader = ResumableDownload(
            ResumableDownload.Settings(), timers: timers, random: .system
        ) { [directory] _ in directory }
        let chain = loader --> busy
        var request = HTTPRequest(url: url)
        request.delivery = .file(file)
        let sent = request
        let download = Task { try await chain.load(sent) }
        await timers.waitForPending(count: 1)
        download.cancel()
        let error = try await error { try await download.value }
        #expect(error.code == .cancelled && timers.pendingCount == 0)
    }

    @Test func attemptsWithoutProgressAreCounted() async throws {
        let server = DownloadServer(bytes)
        server.meet(.refused, .refused, .refused)
        #expect(try await error { try await load(server, maximumFailures: 3) }.code == .cannotConnect)
        #expect(server.requests.count == 3)
        server.meet(.refused, .refused, .cut, .refused)
        _ = try await load(server, maximumFailures: 3)
        expectFile()
    }

    @Test func progressCoversAllParts() async throws {
        let server = DownloadServer(bytes)
        server.meet(.cut, .cut)
        let seen = Locked<[TransferProgress]>([])
        _ = try await load(server) { $0.onProgress = { progress in seen.withLock { $0.append(progress) } } }
        let counts = seen.withLock { $0.map(\.bytesReceived) }
        #expect(counts == counts.sorted() && counts.first == 0 && counts.last == 1_000)
        #expect(seen.withLock { $0.allSatisfy { $0.bytesToReceive == 1_000 } })
    }

    // MARK: Checksums

    private func checksums(of bytes: [UInt8]) -> [HTTPHeaders] {
        let sha = Data(SHA256.of(bytes)).base64EncodedString()
        let (md5, crc) = (Data(MD5.of(bytes)).base64EncodedString(), Data(CRC32C.of(bytes)).base64EncodedString())
        let longer = Data(SHA512.of(bytes)).base64EncodedString()
        return [
            ["Repr-Digest": "sha-512=:\(longer):"],
            // The strongest counts, wherever it stands.
            ["Repr-Digest": "sha-256=:\(String(repeating: "A", count: 43))=:, sha-512=:\(longer):"],
            ["Repr-Digest": "id-sha-256=:AAAA:, sha-256=:\(sha):;q=1"], ["Content-MD5": md5],
            ["x-goog-hash": "crc32c=\(crc),md5=\(md5)"], ["x-goog-hash": "crc32c=\(crc)"],
        ]
    }

    @Test func fileWithWrongChecksumIsRejected() async throws {
        for headers in checksums(of: bytes) {
            let server = DownloadServer(bytes, headers: headers)
            _ = try await load(server)
            expectFile()
            directory.vanish("film")
        }
        for headers in checksums(of: Array(bytes.reversed())) {
            let server = DownloadServer(bytes, headers: headers)
            let error = try await error { try await load(server) }
            #expect(error.code == .invalidResponse && error.reason?.contains("checksum") == true, "\(headers)")
            #expect(server.requests.count == 1 && directory.names.isEmpty)
        }
    }

    @Test func resumedFileWithWrongChecksumIsDownloadedAgain() async throws {
        var headers = checksums(of: bytes)[2]
        headers["ETag"] = "\"1\""
        let server = DownloadServer(bytes, headers: headers)
        server.meet(.cut)
        _ = try await error { try await load(server, maximumFailures: 1) }
        directory.flipBit(3, in: "film.part")
        _ = try await load(server)
        expectFile()
        #expect(server.requests.map { $0.headers.contains("Range") } == [false, true, false])
    }

    // MARK: The disk

    @Test func downloadFailsOnFullDiskAndResumesLater() async throws {
        let server = DownloadServer(bytes)
        directory.limit(900)
        let error = try await error { try await load(server) }
        #expect(error.code == .cannotStoreResponse && error.reason?.contains("the disk is full") == true)
        #expect(error.description.contains("secret") == false)
        directory.limit(.max)
        _ = try await load(server)
        expectFile()
        #expect(server.requests.last?.headers.contains("Range") == true)
    }

    @Test func secondDownloadToSameFileIsRejected() async throws {
        let place = try TemporaryDirectory()
        let gate = Locked<HTTPTask?>(nil)
        let waiting = Awaited(false)
        let slow = StuckTerminal { task in
            gate.withLock { $0 = task }
            waiting.change { $0 = true }
        }
        var request = HTTPRequest(url: url)
        request.delivery = .file(place.url.appending(path: "film"))
        let first = Task { [request] in try await (ResumableDownload() --> slow).load(request) }
        await waiting.wait { $0 }
        let refused = try await error { try await (ResumableDownload() --> DownloadServer(bytes)).load(request) }
        #expect(refused.code == .cannotStoreResponse && refused.reason?.contains("running") == true)
        first.cancel()
        gate.withLock { replace(&$0, with: nil) }?.fail(.cancelled)
        await #expect(throws: HTTPError.self) { try await first.value }
        _ = try await (ResumableDownload() --> DownloadServer(bytes)).load(request)
        #expect(place.names == ["film"])
        #expect(try Data(contentsOf: place.url.appending(path: "film")) == Data(bytes))
    }

    @Test func missingDirectoryFailsDownload() async throws {
        let file = URL(filePath: "/no such directory/film")
        let chain: HTTPLoader = DownloadServer(bytes)
        let error = try await error { try await chain.download(HTTPRequest(url: url), to: file) }
        #expect(error.code == .cannotStoreResponse && error.reason?.contains("no such directory") == true)
    }

    @Test func downloadMethodWritesFileWithUsualPermissions() async throws {
        let place = try TemporaryDirectory()
        let server = DownloadServer(bytes)
        server.meet(.short)
        let seen = Locked<Int64>(0)
        let response = try await server.download(HTTPRequest(url: url), to: place.url.appending(path: "film")) {
            progress in seen.withLock { $0 = progress.bytesReceived }
        }
        #expect(response.status == .ok && seen.withLock { $0 } == 1_000)
        #expect(try Data(contentsOf: place.url.appending(path: "film")) == Data(bytes))
        #expect(place.names == ["film"])
        // It is a new file like any other, while its part was for this user alone.
        try place.put(Data(), at: "usual")
        #expect(try mode("film", in: place) == mode("usual", in: place))
    }

    @Test func downloadMethodMeasuresDelaysWithGivenTimers() async throws {
        let place = try TemporaryDirectory()
        let (server, timers) = (DownloadServer(bytes), ManualTimers())
        server.meet(.refused)
        let (request, film) = (HTTPRequest(url: url), place.url.appending(path: "film"))
        let download = Task {
            try await server.download(request, to: film, timers: timers, random: RandomSource(seed: 1))
        }
        await timers.waitForPending(count: 1)
        timers.advanceToNext()
        #expect(try await download.value.file == film)
        #expect(server.requests.count == 2 && timers.pendingCount == 0)
    }

    @Test func partIsAccessibleOnlyToItsUser() async throws {
        let place = try TemporaryDirectory()
        let server = DownloadServer(bytes)
        server.meet(.cut, .refused)
        var settings = ResumableDownload.Settings()
        settings.maximumFailures = 1
        let failed = try await error {
            try await server.download(
                HTTPRequest(url: url), to: place.url.appending(path: "film"), settings: settings)
        }
        #expect(failed.code == .connectionLost && place.names.contains("film.part"))
        for name in place.names { #expect(try mode(name, in: place) == "\(0o600)", "\(name)") }
    }

    private func mode(_ name: String, in place: TemporaryDirectory) throws -> String {
        let path = place.url.appending(path: name).path(percentEncoded: false)
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions].map { "\($0)" } ?? ""
    }

    // MARK: Other requests

    @Test func otherRequestsPassUnchanged() async throws {
        let mock = MockLoader()
        let chain = loader() --> mock
        var requests = [HTTPRequest(url: url), HTTPRequest(method: .post, url: url), HTTPRequest(url: url)]
        requests[1].delivery = .file(file)
        requests[2].delivery = .file(file)
        requests[2].headers["Range"] = "bytes=0-1"
        for request in requests {
            mock.then { task in
                let passed = task.request
                #expect(!passed.headers.contains("Accept-Encoding"))
                if case .chunks = passed.delivery { Issue.record("\(passed)") }
                task.complete(.success(HTTPResponse(request: passed, status: .ok)))
            }
            _ = try await chain.load(request)
        }
        #expect(directory.names.isEmpty)
    }
}

/// Keeps every task.
private final class StuckTerminal: HTTPLoader, @unchecked Sendable {
    private let keep: @Sendable (HTTPTask) -> Void
    init(_ keep: @escaping @Sendable (HTTPTask) -> Void) { self.keep = keep }
    override func load(task: HTTPTask) { keep(task) }
}
