import DurableFilesTesting
import Foundation
import LoaderChain
import LoaderChainTesting
import TestServers
import TestSizes
import Testing

@testable import LoaderChainCurl
@testable import LoaderChainURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Cancelling, resetting, timing out, and releasing the loader.
@Suite(.timeLimit(.minutes(10)), .everyTerminal) struct CancelTests {
    /// Loads a request, and returns the task and its result.
    private func start(_ request: HTTPRequest, with loader: HTTPLoader) -> (
        task: HTTPTask, result: Task<HTTPResult, Never>
    ) {
        let (results, continuation) = AsyncStream.makeStream(of: HTTPResult.self)
        let task = loader.load(request: request) {
            continuation.yield($0)
            continuation.finish()
        }
        return (
            task,
            Task {
                var all: [HTTPResult] = []
                for await result in results { all.append(result) }
                precondition(all.count == 1)
                return all[0]
            }
        )
    }

    @Test(arguments: [LoopbackReply.Place.start, .head(5), .body(0), .body(3)])
    func cancelEndsTransferAtAnyPoint(_ place: LoopbackReply.Place) async throws {
        let site = try Site()
        site.server.route("/") { _ in .ok("hello").ofPlainType.held(at: place) }
        let (task, result) = start(site.request("/"), with: site.loader)
        try await site.server.waitForHeld(count: 1)
        task.cancel()
        #expect(await result.value.error?.code == .cancelled)
        try await site.server.waitForOpenConnections(atMost: 0)
        try await site.loader.waitUntilIdle()
    }

    /// The task that is kept here has a copy of the response, so the transfer would go on.
    @Test func cancelOfCompletedTaskEndsArrivingChunks() async throws {
        let site = try Site()
        site.server.route("/") { _ in .ok("hello").ofPlainType.held(at: .body(2)) }
        let (task, result) = start(site.request("/") { $0.delivery = .chunks }, with: site.loader)
        let chunks = try #require(await result.value.response?.chunks)
        #expect(!task.cancel())
        try await site.server.waitForOpenConnections(atMost: 0)
        try await site.loader.waitUntilIdle()
        let error = await #expect(throws: HTTPError.self) { for try await _ in chunks {} }
        #expect(error?.code == .cancelled)
    }

    @Test(arguments: [LoopbackReply.Place.start, .body(3)])
    func deadlineEndsTransferAtAnyPoint(_ place: LoopbackReply.Place) async throws {
        let site = try Site()
        let timers = ManualTimers()
        site.server.route("/") { _ in .ok("hello").ofPlainType.held(at: place) }
        let request = site.request("/") {
            $0.deadline = .after(.seconds(5), on: timers)
            $0.timeout = .seconds(3_600)
        }
        let (_, result) = start(request, with: site.loader)
        try await site.server.waitForHeld(count: 1)
        timers.advance(by: .seconds(5))
        let error = await result.value.error
        #expect(error?.code == .deadlineExceeded && error?.loader == TestedTerminal.current.rawValue)
        try await site.server.waitForOpenConnections(atMost: 0)
        try await site.loader.waitUntilIdle()
        #expect(timers.pendingCount == 0)
    }

    @Test func cancelEndsRunningUpload() async throws {
        let site = try Site()
        let folder = try TemporaryDirectory()
        let file = try folder.file("body", pattern(8 << 20))
        site.server.fallback { _ in .ok().held() }
        for body in [FileBody(file) as any HTTPBody, DataBody(pattern(8 << 20))] {
            let (sent, isSending) = AsyncStream.makeStream(of: Void.self)
            let request = site.request("/") {
                $0.method = .put
                $0.body = body
                $0.onProgress = { _ in isSending.yield() }
            }
            let (task, result) = start(request, with: site.loader)
            for await _ in sent { break }
            task.cancel()
            #expect(await result.value.error?.code == .cancelled)
        }
        try await site.loader.waitUntilIdle()
    }

    @Test func cancelDuringBodyEncodingEndsTaskAtOnce() async throws {
        let site = try Site()
        let (asked, isAsked) = AsyncStream.makeStream(of: Void.self)
        let goOn = DispatchSemaphore(value: 0)
        let request = site.request("/") {
            $0.method = .put
            $0.body = StreamBody {
                isAsked.yield()
                goOn.wait()
                return Data("x".utf8)
            }
        }
        let (task, result) = start(request, with: site.loader)
        for await _ in asked { break }
        task.cancel()
        // The stream still blocks.
        #expect(await result.value.error?.code == .cancelled)
        goOn.signal()
        goOn.signal()
        try await site.loader.waitUntilIdle()
        #expect(site.server.requests.isEmpty)
    }

    @Test func cancelInRedirectClosureEndsTask() async throws {
        let site = try Site()
        site.server.route("/a") { _ in .redirect(to: "/b") }
        site.server.route("/b") { _ in .ok() }
        let tasks = Locked<HTTPTask?>(nil)
        let begins = DispatchSemaphore(value: 0)
        let request = site.request("/a") {
            $0.redirects = .ask { _, next in
                begins.wait()
                tasks.withLock { $0 }?.cancel()
                return next
            }
        }
        let (task, result) = start(request, with: site.loader)
        tasks.withLock { $0 = task }
        begins.signal()
        #expect(await result.value.error?.code == .cancelled)
        try await site.loader.waitUntilIdle()
        // The task holds its request, whose closure holds the task.
        tasks.withLock { $0 = nil }
    }

    @Test func resetCancelsRequestsInFlightAndWaitsForThem() async throws {
        let site = try Site()
        site.server.fallback { _ in .ok("x").held() }
        let log = EventLog()
        let loads = (0..<10).map { number in
            site.loader.load(request: site.request("/\(number)")) {
                log.note("\($0.error?.code.rawValue ?? "response")")
            }
        }
        // The session opens six connections per host, and queues the other requests.
        try await site.server.waitForHeld(count: 6)
        await site.loader.reset()
        #expect(log.events == Array(repeating: "cancelled", count: 10))
        #expect(loads.filter(\.isCompleted).count == 10)
        #expect(site.loader.details == "in flight 0")
        site.server.fallback { _ in .ok("again") }
        #expect(try await site.load("/").body == Data("again".utf8))
    }

    @Test func releasedLoaderFinishesRequestsInFlight() async throws {
        let server = try LoopbackServer()
        server.fallback { _ in .ok("done").held() }
        weak var released: HTTPLoader?
        weak var owner: ExchangeOwner?
        let result: Task<HTTPResult, Never>
        do {
            let loader = TestedTerminal.makeLoader()
            released = loader
            owner = (loader as? URLSessionLoader)?.owner
            #if os(Linux)
                if let curl = loader as? CurlLoader { owner = curl.owner }
            #endif
            #expect(owner != nil)
            (_, result) = start(HTTPRequest(url: server.url("/")), with: loader)
            try await server.waitForHeld(count: 1)
        }
        try await eventually("the loader is released") { released == nil }
        server.release()
        #expect(await result.value.response?.body == Data("done".utf8))
        try await eventually("its session is released") { owner == nil }
        #if os(Linux)
            // The session has ended with it, and so have its connections.
            try await server.waitForOpenConnections(atMost: 0)
        #endif
    }

    @Test func redirectIsFollowedAfterLoaderIsReleased() async throws {
        let server = try LoopbackServer()
        server.route("/a") { _ in .redirect(to: "/b").held() }
        server.route("/b") { _ in .ok("there") }
        let result: Task<HTTPResult, Never>
        do {
            let loader = TestedTerminal.makeLoader()
            (_, result) = start(HTTPRequest(url: server.url("/a")), with: loader)
            try await server.waitForHeld(count: 1)
        }
        server.release()
        #expect(await result.value.response?.body == Data("there".utf8))
    }

    // MARK: Timeouts, with a clock that the test moves

    @Test(arguments: [LoopbackReply.Place.start, .head(5), .body(3)])
    func silenceCausesTimeout(_ place: LoopbackReply.Place) async throws {
        let timers = ManualTimers()
        let site = try Site(timers: timers)
        site.server.route("/") { _ in .ok("hello").ofPlainType.held(at: place) }
        let (arrived, hasArrived) = AsyncStream.makeStream(of: Void.self)
        let request = site.request("/") {
            $0.timeout = .milliseconds(300)
            $0.onProgress = { progress in if progress.bytesReceived == 3 { hasArrived.yield() } }
        }
        let (_, result) = start(request, with: site.loader)
        try await site.server.waitForHeld(count: 1)
        // The timeout restarts when the loader receives bytes of a body, which may be after the server has sent them.
        if place == .body(3) { for await _ in arrived { break } }
        #expect(timers.nextDeadline != nil)
        timers.advance(by: .milliseconds(299))
        #expect(site.loader.details == "in flight 1")
        timers.advance(by: .milliseconds(1))
        #expect(await result.value.error?.code == .timedOut)
        try await site.loader.waitUntilIdle()
        timers.runAll()
        #expect(timers.pendingCount == 0)
    }

    /// A session on Linux has a timeout of its own, which must not come first.
    @Test(.only(.urlSession)) func timeoutOfRequestMayExceedThatOfItsLoader() async throws {
        let server = try LoopbackServer()
        server.fallback { _ in .ok().held() }
        let loader = TestedTerminal.makeLoader(timeout: 1)
        var patient = HTTPRequest(url: server.url("/patient"))
        patient.timeout = .seconds(3600)
        let (_, result) = start(patient, with: loader)
        try await server.waitForHeld(count: 1)
        // The second of them begins when the first timeout of the session has passed.
        for _ in 0..<2 { #expect(await loader.failure(HTTPRequest(url: server.url("/")))?.code == .timedOut) }
        server.release("/patient")
        #expect(await result.value.response?.status == .ok)
    }

    /// Without a timeout of its own, a request to a server that says nothing would never end.
    @Test func requestWithoutTimeoutEndsAfterAMinute() async throws {
        let (server, timers) = (try LoopbackServer(), ManualTimers())
        server.fallback { _ in .ok().held() }
        let loader = TestedTerminal.makeUsualLoader(timers: timers)
        let (_, result) = start(HTTPRequest(url: server.url("/")), with: loader)
        try await server.waitForHeld(count: 1)
        timers.advance(by: .milliseconds(59_999))
        #expect(loader.details == "in flight 1")
        timers.advance(by: .milliseconds(1))
        #expect(await result.value.error?.code == .timedOut)
        try await loader.waitUntilIdle()
    }

    @Test func receivedBytesRestartTimeout() async throws {
        let timers = ManualTimers()
        let goOn = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { client in
            guard client.readHead() != nil else { return }
            client.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhe")
            goOn.wait()
            client.send("ll")
            goOn.wait()
            client.send("o")
        }
        let loader = TestedTerminal.makeLoader(timers: timers)
        var request = HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port)
        request.timeout = .seconds(1)
        request.delivery = .chunks
        var chunks = try #require(try await loader.load(request).chunks).makeAsyncIterator()
        #expect(try await chunks.next() == Data("he".utf8))
        timers.advance(by: .milliseconds(900))
        goOn.signal()
        #expect(try await chunks.next() == Data("ll".utf8))
        timers.advance(by: .milliseconds(900))
        goOn.signal()
        #expect(try await chunks.next() == Data("o".utf8))
        #expect(try await chunks.next() == nil)
        // The timer fires once without effect.
        try await loader.waitUntilIdle()
        timers.runAll()
        #expect(timers.pendingCount == 0)
    }

    @Test(.only(.urlSession)) func timeoutsOfConfigurationApply() async throws {
        for isResource in [false, true] {
            let timers = ManualTimers()
            let server = try LoopbackServer()
            server.fallback { _ in .ok().held() }
            // Longer than the test takes on any machine: the session may have the same limits, on its own clock.
            let configuration = URLSessionConfiguration.ephemeral
            if isResource {
                configuration.timeoutIntervalForRequest = 100_000
                configuration.timeoutIntervalForResource = 7_000
            } else {
                configuration.timeoutIntervalForRequest = 7_000
            }
            let loader = URLSessionLoader(configuration: configuration, timers: timers)
            let (_, result) = start(HTTPRequest(url: server.url("/")), with: loader)
            try await server.waitForHeld(count: 1)
            #expect(timers.nextDeadline == TimerInstant(nanoseconds: 7_000_000_000_000))
            timers.advance(by: .seconds(7_000))
            let error = await result.value.error
            #expect(error?.code == .timedOut)
            #expect(error?.reason?.contains(isResource ? "timeoutIntervalForResource" : "sent or received") == true)
        }
    }

    @Test func timeoutFiresOnSystemClock() async throws {
        let site = try Site()
        site.server.route("/") { _ in .ok().held() }
        #expect(await site.failure("/") { $0.timeout = .milliseconds(30) }?.code == .timedOut)
    }

    // MARK: The contract

    /// A terminal does not pass tasks on; the check's other requirements for a loader apply to it.
    @Test func keepsTheContract() async throws {
        let server = try LoopbackServer()
        server.fallback { _ in .ok() }
        let terminal = TestedTerminal.current
        let violations = await ContractCheck(patience: .patient, mayLeaveCancelledTasks: true) { _ in
            let loader = TestedTerminal.$current.withValue(terminal) { TestedTerminal.makeLoader() }
            return ModifyRequest { [port = server.port] request in
                var request = request
                request.scheme = "http"
                request.host = "127.0.0.1"
                request.port = port
                return request
            } --> loader
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}
