import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChainTesting

@Suite(.timeLimit(.minutes(10))) struct LoopbackServerTests {
    let server: LoopbackServer
    let client: LoopbackClient

    init() throws {
        server = try LoopbackServer()
        client = try LoopbackClient(server)
    }

    @Test func urlsContainPortAndEscapedPath() {
        #expect(server.port > 0)
        #expect(server.baseURL.absoluteString == "http://127.0.0.1:\(server.port)")
        let base = server.baseURL.absoluteString
        #expect(server.url("/a/b?c=d").absoluteString == base + "/a/b?c=d")
        #expect(server.url("a").absoluteString == base + "/a")
        #expect(server.url("/a b/\u{e9}|%41%zz").absoluteString == base + "/a%20b/%C3%A9%7C%41%25zz")
        #expect(server.url("//x").absoluteString == base + "//x")
    }

    @Test func serverStartsAtPortOfStoppedServer() async throws {
        var returns = 0
        for _ in 0..<100 where returns < 3 {
            let first = try LoopbackServer()
            first.fallback { _ in .ok("first") }
            let client = try LoopbackClient(first)
            client.send("GET / HTTP/1.1\r\n\r\n")
            try await first.waitForRequests(count: 1)
            first.stop()
            let second: LoopbackServer
            do { second = try LoopbackServer(port: UInt16(first.port)) } catch {
                // Another test, or another process, got the port in between.
                #expect((error as? SystemError)?.code == EADDRINUSE)
                continue
            }
            #expect(second.port == first.port)
            #expect(throws: SystemError.self) { try LoopbackServer(port: UInt16(first.port)) }
            returns += 1
        }
        #expect(returns == 3)
    }

    #if os(Linux) || os(macOS)
        /// In a process of its own, where the servers of other tests do not push these ports out of the memory.
        @Test func portOfStoppedServerIsNotReused() async {
            await #expect(processExitsWith: .success) {
                var ports: Set<Int> = []
                for _ in 0..<500 {
                    let server = try LoopbackServer()
                    precondition(ports.insert(server.port).inserted)
                    server.stop()
                }
            }
        }
    #endif

    @Test func oldestPortsAreForgotten() {
        var ports = LoopbackPorts(limit: 3)
        let inserted = [1, 2, 3, 1, 2, 3, 4, 2, 1, 2, 4, 1, 2].map { ports.insert($0) }
        #expect(inserted == [true, true, true, false, false, false, true, false, true, true, false, false, false])
    }

    @Test func usedPortIsTakenWhenSystemHasNoOther() {
        var closed = 0
        let first = LoopbackPorts.bind {
            (socket: (), port: -1)
        } close: { _ in
            closed += 1
        }
        #expect(first.port == -1)
        #expect(closed == 0)
        let again = LoopbackPorts.bind {
            (socket: (), port: -1)
        } close: { _ in
            closed += 1
        }
        #expect(again.port == -1)
        #expect(closed == 16)
    }

    @Test func requestsAreRoutedByPathAndMethod() throws {
        server.route("/a") { _ in .ok("any") }
        server.route("/a", method: "PUT") { _ in .ok("put") }
        server.route("/b") { _ in .ok("old") }
        server.route("/b") { request in .ok("new \(request.query ?? "")") }
        for (method, target, answer) in [
            ("GET", "/a", "any"), ("PUT", "/a", "put"), ("GET", "/b?x", "new x"),
            ("GET", "/c", "Nothing is routed at /c."),
        ] {
            client.get(target, method: HTTPMethod(method))
            #expect(try client.readReply().text == answer)
        }
        server.fallback { request in .text(request.path, status: 499) }
        client.get("/c")
        let reply = try client.readReply()
        #expect(reply.statusLine == "HTTP/1.1 499 ")
        #expect(reply.text == "/c")
        #expect(server.connectionCount == 1)
    }

    @Test func routeMayUseItsServer() throws {
        // A lock held around the route would deadlock here.
        server.fallback { [unowned server] request in
            server.release()
            server.fallback { _ in .ok("next") }
            return .ok("\(server.requests.count) \(server.held.count) \(server.openConnections)")
        }
        client.get("/")
        #expect(try client.readReply().text == "1 0 1")
        client.get("/")
        #expect(try client.readReply().text == "next")
    }

    @Test func listedRepliesAreSentInOrderAndLastRepeats() throws {
        server.route("/flaky", replies: .unavailable(retryAfter: 0), .tooManyRequests(retryAfter: 1), .ok("done"))
        let statuses = try (0..<4).map { _ in
            client.get("/flaky")
            return try client.readReply().status
        }
        #expect(statuses == [503, 429, 200, 200])
    }

    @Test func receivedRequestsAreRecordedByteForByte() async throws {
        server.fallback { LoopbackReply(.ok, body: .bytes($0.raw)) }
        let first = "POST /1?q HTTP/1.1\r\nhost:x\r\nX-A:  \tb \r\ncontent-length: 3\r\n\r\n\0\r\n"
        let second = "POST /2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;e\r\nab\r\n0\r\nT: v\r\n\r\n"
        client.send(first + second)
        #expect(try client.readReply().text == first)
        #expect(try client.readReply().text == second)
        let requests = try await server.waitForRequests(count: 2)
        #expect(requests.map(\.raw) == [first, second].map { Data($0.utf8) })
        #expect(requests.map(\.body) == ["\0\r\n", "ab"].map { Data($0.utf8) })
        #expect(requests.map(\.connection) == [1, 1])
        #expect(requests == server.requests)
    }

    @Test func pipelinedRequestsAreServedInOrder() throws {
        server.fallback { .ok($0.path).delayed(.milliseconds($0.path == "/0" ? 5 : 0)) }
        client.send((0..<50).map { "GET /\($0) HTTP/1.1\r\n\r\n" }.joined())
        for index in 0..<50 { #expect(try client.readReply().text == "/\(index)") }
    }

    @Test func connectionClosesWhenAskedTo() throws {
        server.fallback { _ in .ok("x") }
        client.get("/", headers: ["Connection": "close"])
        #expect(try client.readReply().headers["Connection"] == "close")
        #expect(client.readToEnd() == (Data(), .orderly))

        server.fallback { _ in .ok("y").closing() }
        let other = try LoopbackClient(server)
        // Both at once: a server that closes does not wait long for what a client still sends.
        other.send("GET / HTTP/1.1\r\n\r\nGET /never HTTP/1.1\r\n\r\n")
        #expect(try other.readReply().text == "y")
        #expect(other.readToEnd() == (Data(), .orderly))
        #expect(server.requests.count == 2)
    }

    @Test func expectContinueIsAnswered() throws {
        server.fallback { .echo($0) }
        client.send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\nContent-Type: a/b\r\n\r\n")
        #expect(try client.read(25) == Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        client.send("body")
        let reply = try client.readReply()
        #expect(reply.text == "body")
        #expect(reply.headers["Content-Type"] == "a/b")
    }

    @Test func replyToHeadHasNoBody() throws {
        server.fallback { _ in .ok("hello") }
        client.get("/", method: "HEAD")
        #expect(try client.readReply(hasBody: false).headers["Content-Length"] == "5")
        client.get("/")
        #expect(try client.readReply().text == "hello")
        server.fallback { _ in .status(204) }
        client.get("/")
        #expect(try client.readReply().headers.isEmpty)
    }

    @Test func chunksAreSentWithTrailers() throws {
        server.fallback { _ in .chunks(["ab", "cde"], trailers: ["X-Sum": "1"]).dripping(1, every: .zero) }
        client.get("/")
        let reply = try client.readReply()
        #expect(reply.chunks == ["ab", "cde"].map { Data($0.utf8) })
        #expect(reply.trailers == ["X-Sum: 1\r\n"])
    }

    @Test func gzippedReplyDecodesToItsText() throws {
        let text = String(repeating: "hello ", count: 20_000)
        server.fallback { _ in .ok(text).gzipped().chunked(by: 50_000) }
        client.get("/")
        let reply = try client.readReply()
        #expect(reply.headers["Content-Encoding"] == "gzip")
        #expect(reply.chunks.count == 3)
        #expect(try StoredGzipTests.decoded(reply.body) == Data(text.utf8))
    }

    @Test func redirectsMayLeadToOtherServersAndInCircles() throws {
        let other = try LoopbackServer()
        other.route("/there") { _ in .ok("arrived") }
        server.route("/away") { _ in .redirect(to: other.url("/there").absoluteString, status: 307) }
        server.route("/round") { _ in .redirect(to: "/about") }
        server.route("/about") { _ in .redirect(to: "/round", status: 301) }
        client.get("/round")
        #expect(try client.readReply().headers["Location"] == "/about")
        client.get("/about")
        #expect(try client.readReply().headers["Location"] == "/round")
        client.get("/away")
        let reply = try client.readReply()
        #expect(reply.status == 307)
        #expect(reply.headers["Location"] == "http://127.0.0.1:\(other.port)/there")
        let next = try LoopbackClient(other)
        next.get("/there")
        #expect(try next.readReply().text == "arrived")
    }

    @Test func heldRepliesWaitUntilReleased() async throws {
        server.fallback { .ok($0.path).held() }
        let clients = try (0..<3).map { _ in try LoopbackClient(server) }
        for (index, client) in clients.enumerated() {
            client.get("/\(index)")
            try await server.waitForHeld(count: index + 1)
        }
        let held = server.held
        #expect(held.map(\.request.path) == ["/0", "/1", "/2"])
        held[1].release()
        held[1].release()
        #expect(try clients[1].readReply().text == "/1")
        server.release("/2")
        #expect(try clients[2].readReply().text == "/2")
        #expect(server.held.map(\.request.path) == ["/0"])
        server.release()
        #expect(try clients[0].readReply().text == "/0")
        #expect(server.held.isEmpty)
    }

    @Test func replyIsHeldWithinBody() async throws {
        server.fallback { _ in .ok("hello").held(at: .body(2)) }
        client.get("/")
        try await server.waitForHeld(count: 1)
        #expect(try client.read(LoopbackPlanTests.head.utf8.count + 2).suffix(2) == Data("he".utf8))
        server.release()
        #expect(try client.read(3) == Data("llo".utf8))
    }

    @Test func clientLeavingDuringWaitIsNoticed() async throws {
        server.route("/held") { _ in .ok().held() }
        server.route("/late") { _ in .ok().delayed(.seconds(3600)) }
        for (index, path) in ["/held", "/late"].enumerated() {
            let client = try LoopbackClient(server)
            client.get(path)
            try await server.waitForRequests(count: index + 1)
            client.hangUp()
        }
        client.hangUp()
        // A connection that has not been accepted yet is not open either.
        try await server.waitForConnections(count: 3)
        try await server.waitForOpenConnections(atMost: 0)
        #expect(server.openConnections == 0)
        #expect(server.held.isEmpty)
    }

    @Test func pipelinedRequestDuringHoldIsKept() async throws {
        server.route("/1") { _ in .ok("1").held() }
        server.route("/2") { _ in .ok("2") }
        client.get("/1")
        try await server.waitForHeld(count: 1)
        client.get("/2")
        server.release()
        #expect(try client.readReply().text == "1")
        #expect(try client.readReply().text == "2")
    }

    @Test func waitsEndWhenTaskIsCancelledOrServerStops() async throws {
        let wait = Task { [server] in try await server.waitForRequests(count: 1) }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
        try await server.waitForConnections(count: 1)
        let hopeless = Task { [server] in try await server.waitForHeld(count: 1) }
        let hopeful = Task { [server] in try await server.waitForOpenConnections(atMost: 0) }
        server.stop()
        try await hopeful.value
        await #expect(throws: LoopbackServer.Stopped.self) { try await hopeless.value }
        await #expect(throws: LoopbackServer.Stopped.self) { try await server.waitForRequests(count: 1) }
        try await server.waitForOpenConnections(atMost: 0)
    }
}
