import DurableFilesTesting
import Foundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResumableUploadTests {
    private let bytes = Data((0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private func upload(
        _ server: HTTPLoader, body: (any HTTPBody)? = nil, _ change: (inout HTTPRequest) -> Void = { _ in },
        settings: (inout ResumableUploadDraft12.Settings) -> Void = { _ in }
    ) -> ResumableUploadDraft12 {
        var request = HTTPRequest(method: .post, host: "films.test", path: "/films")
        request.body = body ?? DataBody(bytes)
        request.headers["Authorization"] = "Bearer secret"
        change(&request)
        var chosen = ResumableUploadDraft12.Settings()
        (chosen.firstDelay, chosen.maximumDelay) = (.zero, .zero)
        settings(&chosen)
        return ResumableUploadDraft12(
            request, chain: server, settings: chosen, timers: ManualTimers(), random: RandomSource(seed: 1))
    }

    /// A server that lets uploads go on at another one.
    ///
    /// - Parameter redirect: changes a request, as a redirect does.
    private static func movingServer(
        _ seen: Locked<[HTTPRequest]>, redirect: @escaping @Sendable (inout HTTPRequest) -> Void = { _ in }
    ) -> HTTPLoader {
        ClosureLoader { request, _ in
            seen.withLock { $0.append(request) }
            let status: HTTPStatus = request.method == .post ? .created : .ok
            let headers: HTTPHeaders = ["Location": "https://other.test/u", "Upload-Complete": "?1"]
            return HTTPResponse(request: request.with(redirect), status: status, headers: headers)
        }
    }

    private func error(_ upload: ResumableUploadDraft12) async -> HTTPError? {
        do { _ = try await upload.send() } catch { return error }
        return nil
    }

    @Test func bodyIsSentToLocationFromServer() async throws {
        let server = ResumableUploadServerDraft12()
        let told = Locked<URL?>(nil)
        let response = try await upload(server, settings: { $0.onLocation = { url in told.withLock { $0 = url } } })
            .send()
        #expect(response.status == .ok && server.complete == [bytes])
        #expect(told.withLock { $0?.absoluteString } == "https://films.test/uploads/1")
        let requests = server.requests
        #expect(requests.map(\.method) == [.post, .patch])
        #expect(requests.allSatisfy { $0.headers["Upload-Draft-Interop-Version"] == "8" })
        #expect(requests.allSatisfy { $0.headers["Authorization"] == "Bearer secret" })
        #expect(requests[0].headers["Upload-Length"] == "1000" && requests[0].headers["Upload-Complete"] == "?0")
        #expect(requests[1].headers["Upload-Offset"] == "0" && requests[1].headers["Upload-Complete"] == "?1")
    }

    @Test func partsDoNotExceedServerLimit() async throws {
        let server = ResumableUploadServerDraft12(largestAppend: 300)
        _ = try await upload(server).send()
        #expect(server.complete == [bytes])
        #expect(server.requests.dropFirst().map { $0.headers["Upload-Offset"] } == ["0", "300", "600", "900"])
        #expect(server.requests.dropFirst().map { $0.headers["Upload-Complete"] } == ["?0", "?0", "?0", "?1"])
    }

    @Test(arguments: ResumableUploadServerDraft12.Fault.allCases)
    func offsetIsRequestedAfterLoss(_ fault: ResumableUploadServerDraft12.Fault) async throws {
        let server = ResumableUploadServerDraft12(largestAppend: 300)
        // The first request creates; the third appends.
        let terminal = ClosureLoader("fault") { request, next in
            if request.headers["Upload-Offset"] == "300", server.requests.count == 2 { server.meet(fault) }
            return try await next(request)
        }
        terminal --> server
        #expect(try await upload(terminal).send().status == .ok)
        #expect(server.complete == [bytes] && server.requests[3].method == .head)
    }

    @Test func laterProcessResumesAtSavedLocation() async throws {
        let server = ResumableUploadServerDraft12()
        let told = Locked<URL?>(nil)
        let first = upload(
            ClosureLoader { request, next in
                if request.method == .patch { server.meet(.cut) }
                return try await next(request)
            } --> server,
            settings: {
                $0.maximumFailures = 1
                $0.onLocation = { url in told.withLock { $0 = url } }
            })
        #expect(await error(first)?.code == .connectionLost)
        let location = told.withLock { $0 }
        _ = try await upload(server, settings: { $0.location = location }).send()
        #expect(server.complete == [bytes])
        #expect(server.requests.map(\.method) == [.post, .patch, .head, .patch])
    }

    @Test func unknownLocationStartsNewUpload() async throws {
        let server = ResumableUploadServerDraft12()
        let location = URL(string: "https://films.test/uploads/9")
        _ = try await upload(server, settings: { $0.location = location }).send()
        #expect(server.complete == [bytes] && server.requests.map(\.method) == [.head, .post, .patch])
    }

    @Test func emptyBodyIsUploaded() async throws {
        let server = ResumableUploadServerDraft12()
        _ = try await upload(server, body: DataBody(Data())).send()
        #expect(server.complete == [Data()])
    }

    @Test func unsupportedUploadFails() async throws {
        let small = ResumableUploadServerDraft12(largest: 999)
        #expect(await error(upload(small))?.reason?.contains("999") == true)
        let old = MockLoader().then(.ok)
        #expect(await error(upload(old))?.reason?.contains("does not support") == true)
        let refused = MockLoader().then(.forbidden)
        #expect(try await upload(refused).send().status == .forbidden)
        let stream = StreamBody { Data() }
        #expect(await error(upload(small, body: stream))?.code == .invalidRequest)
    }

    @Test func credentialsAreNotSentToAnotherServer() async throws {
        let seen = Locked<[HTTPRequest]>([])
        let chain = Self.movingServer(seen)
        _ = try await upload(chain).send()
        #expect(seen.withLock { $0.map { $0.headers.contains("Authorization") } } == [true, false])
        let insecure = MockLoader().then(.created, headers: ["Location": "http://films.test/u"])
        #expect(await error(upload(insecure))?.code == .insecureConnection)
    }

    @Test func ownCredentialsAreNotSentToAnotherServer() async throws {
        let seen = Locked<[HTTPRequest]>([])
        let server = Self.movingServer(seen)
        let own = upload(BasicAuth() --> server) {
            $0.headers["Authorization"] = nil
            $0.basicCredentials = BasicCredentials(user: "zoe", password: "secret")
        }
        _ = try await own.send()
        #expect(seen.withLock { $0.map { $0.headers.contains("Authorization") } } == [true, false])
    }

    @Test func secretsRemovedByRedirectAreNotSentToItsTarget() async throws {
        let seen = Locked<[HTTPRequest]>([])
        let chain = Self.movingServer(seen) { last in
            guard last.method == .post else { return }
            last.host = "other.test"
            last.headers.remove("Authorization")
        }
        _ = try await upload(chain).send()
        #expect(seen.withLock { $0.map { $0.headers.contains("Authorization") } } == [true, false])
    }

    @Test func validateLoaderDoesNotEndUpload() async throws {
        let server = ResumableUploadServerDraft12()
        let hasFailed = Locked(false)
        let terminal = ClosureLoader("fault") { request, next in
            if request.method == .patch, !hasFailed.withLock({ replace(&$0, with: true) }) {
                return HTTPResponse(request: request, status: .serviceUnavailable)
            }
            return try await next(request)
        }
        #expect(try await upload(Validate(.success) --> terminal --> server).send().status == .ok)
        #expect(server.complete == [bytes])
    }

    private static let busy: [HTTPStatus] = [408, 423, 425, 429, 500, 502, 503, 504]

    /// A server that says each of these once, with what it has done before it says so.
    @Test(arguments: busy, [HTTPMethod.post, .head, .patch])
    func busyServerIsRetriedFromItsOffset(_ status: HTTPStatus, _ method: HTTPMethod) async throws {
        // A place is not locked, and not early, before there is one.
        if method == .post, status == 423 || status == 425 { return }
        let server = ResumableUploadServerDraft12(largestAppend: 300)
        let timers = ManualTimers()
        let wasBusy = Locked(false)
        let chain = ClosureLoader { request, next in
            let isLater = request.headers["Upload-Offset"].map { $0 != "0" } ?? (method != .patch)
            guard request.method == method, isLater, !wasBusy.withLock({ replace(&$0, with: true) }) else {
                return try await next(request)
            }
            if method == .patch {
                // A part of it has arrived nevertheless.
                server.meet(.cut)
                _ = try? await next(request)
            }
            return HTTPResponse(request: request, status: status, headers: ["Retry-After": "5"])
        }
        chain --> server
        var settings = ResumableUploadDraft12.Settings()
        (settings.firstDelay, settings.maximumFailures) = (.milliseconds(1), 2)
        if method == .head {
            server.meet(.unanswered)
            _ = await error(upload(server, settings: { $0.maximumFailures = 1 }))
            settings.location = URL(string: "https://films.test/uploads/1")
        }
        let request = HTTPRequest(method: .post, host: "films.test", path: "/films", body: DataBody(bytes))
        let upload = ResumableUploadDraft12(
            request, chain: chain, settings: settings, timers: timers, random: RandomSource(seed: 1))
        let sending = Task { try await upload.send() }
        await timers.waitForPending(count: 1)
        #expect(timers.nextDeadline == timers.now.advanced(by: .seconds(5)))
        timers.advanceToNext()
        #expect(try await sending.value.status == .ok)
        #expect(server.complete == [bytes])
    }

    @Test func lastBusyResponseIsReturned() async throws {
        let timers = ManualTimers()
        let busy = MockLoader().then(.tooManyRequests, headers: ["Retry-After": "3600"])
            .then(.tooManyRequests, body: "no")
        var settings = ResumableUploadDraft12.Settings()
        settings.maximumFailures = 2
        (settings.firstDelay, settings.maximumRetryAfter) = (.milliseconds(1), .seconds(30))
        let request = HTTPRequest(method: .post, host: "films.test", path: "/films", body: DataBody(bytes))
        let upload = ResumableUploadDraft12(request, chain: busy, settings: settings, timers: timers)
        let sending = Task { try await upload.send() }
        await timers.waitForPending(count: 1)
        #expect(timers.nextDeadline == timers.now.advanced(by: .seconds(30)))
        timers.advanceToNext()
        let response = try await sending.value
        #expect(response.status == .tooManyRequests && response.body == Data("no".utf8))
    }

    @Test func waitCanBeCancelled() async throws {
        let timers = ManualTimers()
        let busy = MockLoader().then(.serviceUnavailable, headers: ["Retry-After": "3600"])
        let request = HTTPRequest(method: .post, host: "films.test", path: "/films", body: DataBody(bytes))
        let upload = ResumableUploadDraft12(request, chain: busy, timers: timers)
        let sending = Task { try await upload.send() }
        await timers.waitForPending(count: 1)
        sending.cancel()
        let error = await #expect(throws: HTTPError.self) { try await sending.value }
        #expect(error?.code == .cancelled && timers.pendingCount == 0)
    }

    @Test func requestCanBeCancelled() async {
        let terminal = ScriptedTerminal()
        let upload = upload(terminal)
        let sending = Task { try await upload.send() }
        _ = await terminal.next()
        sending.cancel()
        let error = await #expect(throws: HTTPError.self) { try await sending.value }
        #expect(error?.code == .cancelled && terminal.requests.count == 1)
    }

    @Test func newBytesRestartCountOfFailures() async throws {
        let server = ResumableUploadServerDraft12(largestAppend: 100)
        let refused = Locked<Set<String>>([])
        let chain = ClosureLoader { request, next in
            // Each part fails once.
            if let offset = request.headers["Upload-Offset"], refused.withLock({ $0.insert(offset).inserted }) {
                server.meet(.unavailable)
            }
            return try await next(request)
        }
        chain --> server
        #expect(try await upload(chain, settings: { $0.maximumFailures = 2 }).send().status == .ok)
        #expect(server.complete == [bytes])
        #expect(refused.withLock { $0.count } == 10)
    }

    @Test func uploadFailsAtFifthFailureByDefault() async throws {
        let timers = ManualTimers()
        let terminal = ScriptedTerminal { _ in .failure(.connectionLost) }
        let request = HTTPRequest(method: .post, host: "films.test", path: "/films", body: DataBody(bytes))
        let upload = ResumableUploadDraft12(request, chain: terminal, timers: timers, random: RandomSource(seed: 1))
        let sending = Task { try await upload.send() }
        for bound in [Duration.seconds(1), .seconds(2), .seconds(4), .seconds(8)] {
            await timers.waitForPending(count: 1)
            let deadline = try #require(timers.nextDeadline)
            #expect(timers.now.duration(to: deadline) <= bound)
            timers.advanceToNext()
        }
        let error = await #expect(throws: HTTPError.self) { try await sending.value }
        #expect(error?.code == .connectionLost)
        #expect(terminal.requests.count == 5 && timers.pendingCount == 0)
    }

    @Test func progressCoversAllParts() async throws {
        let server = ResumableUploadServerDraft12(largestAppend: 400)
        let seen = Locked<[TransferProgress]>([])
        // It reports each part as a terminal does, which knows no other.
        let chain = ClosureLoader { request, next in
            if let onProgress = request.onProgress, let length = try request.body.encode().length {
                onProgress(TransferProgress(bytesSent: length, bytesToSend: length))
            }
            return try await next(request)
        }
        chain --> server
        _ = try await upload(chain) { $0.onProgress = { progress in seen.withLock { $0.append(progress) } } }.send()
        #expect(seen.withLock { $0.map(\.bytesSent) } == [400, 800, 1_000])
        #expect(seen.withLock { $0.allSatisfy { $0.bytesToSend == 1_000 } })
    }

    // MARK: Credentials

    @Test func userInfoChosenByServerIsNotSent() async throws {
        let seen = Locked<[HTTPRequest]>([])
        let chain = ClosureLoader { request, _ in
            seen.withLock { $0.append(request) }
            let status: HTTPStatus = request.method == .post ? .created : .ok
            let place = "https://eve:chosen@films.test/u"
            return HTTPResponse(
                request: request, status: status, headers: ["Location": place, "Upload-Complete": "?1"])
        }
        let told = Locked<URL?>(nil)
        _ = try await upload(chain, settings: { $0.onLocation = { url in told.withLock { $0 = url } } }).send()
        #expect(told.withLock { $0?.absoluteString } == "https://films.test/u")
        // The caller's own stays on its server.
        _ = try await upload(chain, { $0.url = URL(string: "https://ann:own@films.test/films") }).send()
        #expect(seen.withLock { $0.map(\.userInfo) } == [nil, nil, "ann:own", "ann:own"])
    }

    @Test func secretsAreSentToKnownLocationOnlyOnRequestServer() async throws {
        let place = { (host: String) in URL(string: "https://\(host)/uploads/1") }
        func server(expectingSecrets isSent: Bool) -> MockLoader {
            MockLoader().then { task in
                #expect(task.request.headers.contains("Authorization") == isSent)
                task.complete(
                    .success(HTTPResponse(request: task.request, status: .ok, headers: ["Upload-Complete": "?1"])))
            }
        }
        for (host, isSent) in [("films.test", true), ("other.test", false)] {
            _ = try await upload(server(expectingSecrets: isSent), settings: { $0.location = place(host) }).send()
        }
        // A request whose host is filled in later does not tell where its secrets may go.
        let unused = ResumableUploadServerDraft12()
        let error = await error(upload(unused, { $0.host = nil }, settings: { $0.location = place("films.test") }))
        #expect(error?.code == .invalidRequest && unused.requests.isEmpty)
        let open = upload(
            server(expectingSecrets: false),
            {
                $0.host = nil
                $0.headers = [:]
            }, settings: { $0.location = place("films.test") })
        #expect(try await open.send().status == .ok)
    }

    @Test func fileChangedDuringUploadFails() async throws {
        let place = try TemporaryDirectory()
        try place.put(bytes, at: "film")
        let server = ResumableUploadServerDraft12(largestAppend: 300)
        let chain = ClosureLoader { request, next in
            if request.headers["Upload-Offset"] == "300" { try place.put(Data(count: 999), at: "film") }
            return try await next(request)
        }
        chain --> server
        let file = FileBody(place.url.appending(path: "film"))
        #expect(await error(upload(chain, body: file)) != nil && server.complete.isEmpty)
    }

    @Test func serverRefusesUploadsOfAnotherLength() async throws {
        let server = ResumableUploadServerDraft12(largest: 1_000)
        func create(_ isComplete: String, _ count: Int, announced: Int?) async throws -> HTTPStatus {
            var request = HTTPRequest(method: .post, host: "films.test", path: "/films")
            request.headers = ["Upload-Draft-Interop-Version": "8", "Upload-Complete": isComplete]
            request.headers["Upload-Length"] = announced.map { "\($0)" }
            request.body = DataBody(Data(count: count))
            return try await server.load(request).status
        }
        func append(_ count: Int) async throws -> HTTPStatus {
            var request = HTTPRequest(method: .patch, host: "films.test", path: "/uploads/1")
            request.headers = [
                "Upload-Draft-Interop-Version": "8", "Upload-Complete": "?1", "Upload-Offset": "0",
                "Content-Type": "application/partial-upload",
            ]
            request.body = DataBody(Data(count: count))
            return try await server.load(request).status
        }
        #expect(try await create("?0", 0, announced: 10) == .created)
        // Nothing of what was refused is kept.
        #expect(try await append(9) == 400)
        #expect(try await append(11) == 400)
        #expect(try await append(10) == .ok)
        #expect(try await create("?1", 9, announced: 10) == 400)
        #expect(try await create("?1", 11, announced: 10) == 400)
        #expect(try await create("?0", 11, announced: 10) == 400)
        #expect(try await create("?1", 1_001, announced: nil) == 413)
        #expect(try await create("?1", 20, announced: 20) == .ok)
        #expect(server.complete.map(\.count) == [10, 20])
        #expect(server.count == 2)
    }

    @Test func uploadCanBeDiscarded() async throws {
        let server = ResumableUploadServerDraft12()
        server.meet(.unanswered)
        let upload = upload(server, settings: { $0.maximumFailures = 1 })
        #expect(await error(upload)?.code == .connectionLost && server.count == 1)
        try await upload.discard(URL(string: "https://films.test/uploads/1")!)
        #expect(server.count == 0)
    }

    /// Uploads that meet faults by chance: what is complete is the body, byte for byte.
    @Test func completedUploadEqualsBodyDespiteFaults() async throws {
        for seed in 0..<UInt64(testSize("UPLOAD_WALKS", usually: 200, atLeast: 20)) {
            var random = SeededGenerator(seed: seed)
            let server = ResumableUploadServerDraft12(
                largestAppend: Int.random(in: 50...1_200, using: &random), random: RandomSource(seed: seed))
            let chance = Double.random(in: 0...0.6, using: &random)
            let source = RandomSource(seed: seed)
            let chain = ClosureLoader { request, next in
                if source.chance(chance) {
                    server.meet(ResumableUploadServerDraft12.Fault.allCases[Int(source.next() % 4)])
                }
                return try await next(request)
            }
            chain --> server
            let told = Locked<URL?>(nil)
            for life in 0..<30 {
                let upload = upload(
                    life == 29 ? server : chain,
                    settings: {
                        $0.location = told.withLock { $0 }
                        $0.onLocation = { url in told.withLock { $0 = url } }
                        $0.maximumFailures = 2
                    })
                if (try? await upload.send())?.status.isSuccess == true { break }
                #expect(life < 29, "seed \(seed)")
            }
            #expect(!server.complete.isEmpty && server.complete.allSatisfy { $0 == bytes }, "seed \(seed)")
        }
    }
}
