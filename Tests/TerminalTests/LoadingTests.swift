import Dispatch
import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests as they are sent and responses as they are delivered, without faults.
@Suite(.timeLimit(.minutes(10)), .everyTerminal) struct LoadingTests {
    @Test func responseHasStatusHeadersAndBody() async throws {
        let site = try Site()
        site.server.route("/a") { _ in .ok("hello").header("X-One", "1") }
        let response = try await site.load("/a")
        #expect(response.status == .ok)
        #expect(response.body == Data("hello".utf8))
        #expect(response.headers["x-one"] == "1")
        #expect(response.request.path == "/a")
    }

    @Test func failureStatusIsDeliveredAsResponse() async throws {
        let site = try Site()
        site.server.route("/busy") { _ in .unavailable(retryAfter: 3) }
        let response = try await site.load("/busy")
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers["Retry-After"] == "3")
        #expect(try await site.load("/nowhere").status == .notFound)
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func methodIsSentUnchanged(_ method: String) async throws {
        let site = try Site()
        site.server.fallback { _ in .ok("yes") }
        let response = try await site.load("/m") { $0.method = HTTPMethod(method) }
        #expect(response.status == .ok)
        #expect(response.body == Data((method == "HEAD" ? "" : "yes").utf8))
        #expect(site.server.requests.map(\.method.rawValue) == [method])
    }

    @Test func headersWithSameNameAreJoined() async throws {
        let site = try Site()
        site.server.fallback { _ in .ok() }
        _ = try await site.load("/h") {
            $0.headers.append("a", for: "X-Many")
            $0.headers.append("b", for: "x-many")
            $0.headers["Cookie"] = "one=1"
            $0.headers.append("two=2", for: "Cookie")
        }
        let headers = try #require(site.server.requests.first).headers
        #expect(headers.values(for: "X-Many") == ["a, b"])
        #expect(headers.values(for: "Cookie") == ["one=1; two=2"])
    }

    @Test func configurationHeadersFillMissingHeaders() async throws {
        let server = try LoopbackServer()
        server.fallback { _ in .ok() }
        let loader = TestedTerminal.makeLoader(headers: ["X-App": "app", "X-Both": "configuration"])
        _ = try await loader.load(HTTPRequest(url: server.url("/"), headers: ["X-Both": "request"]))
        let headers = try #require(server.requests.first).headers
        #expect(headers["X-App"] == "app")
        #expect(headers["X-Both"] == "request")
    }

    /// A loader that made a session for every request would never reuse a connection.
    ///
    /// How often a connection is reused depends on the session: on a busy machine it may start a request before it has
    /// the last connection back.
    @Test func connectionsAreReused() async throws {
        let site = try Site()
        site.server.fallback { _ in .ok("again") }
        var isKept = false
        var loads = 0
        while !isKept, loads < 1_000 {
            _ = try await site.load("/")
            loads += 1
            isKept = Set(site.server.requests.map(\.connection)).count < site.server.requests.count
        }
        #expect(isKept, "\(loads) requests came on \(site.server.connectionCount) connections")
        #expect(site.server.requests.allSatisfy { $0.headers["Connection"]?.lowercased() != "close" })
    }

    @Test func concurrentRequestsGetTheirOwnResponses() async throws {
        let site = try Site()
        site.server.fallback { .ok($0.path) }
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let response = try? await site.load("/\(number)")
                    return response?.body == Data("/\(number)".utf8)
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    /// It is called on a queue for such code, and not where the transfers are carried.
    ///
    /// `CurlTests` has the same for the other terminal.
    @Test(.only(.urlSession)) func handlerThatWaitsHoldsUpNoRequestOfItsLoader() async throws {
        let site = try Site()
        site.server.fallback { _ in .ok() }
        let (gate, log) = (DispatchSemaphore(value: 0), EventLog())
        defer { gate.signal() }
        site.loader.load(request: site.request("/waits")) { _ in
            log.note("waits")
            gate.wait()
        }
        await log.waitForEvents(1)
        for number in 0..<3 { #expect(try await site.load("/\(number)").status == .ok) }
    }

    @Test func informationalResponsesAreSkipped() async throws {
        let site = try Site()
        site.server.route("/early") { _ in
            .verbatim("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let response = try await site.load("/early")
        #expect(response.status == .ok)
        #expect(response.body == Data("ok".utf8))
    }

    @Test func gzippedBodyIsDecoded() async throws {
        let site = try Site()
        site.server.route("/gzip") { _ in .ok("packed").gzipped() }
        #expect(try await site.load("/gzip").body == Data("packed".utf8))
    }

    @Test(arguments: [
        ("/a%2", "/a%252"), ("/a%", "/a%25"), ("/a%zz", "/a%25zz"), ("/a%2f", "/a%2f"), ("/a//b;c=1,2", "/a//b;c=1,2"),
        ("/...", "/..."), ("/a/..b", "/a/..b"), ("/%2e%2f", "/%2e%2f"),
    ])
    func invalidEscapeInPathIsEncoded(_ path: String, _ sent: String) async throws {
        let site = try Site()
        site.server.fallback { request in .ok(request.target) }
        #expect(try await site.load("/") { $0.path = path }.body == Data(sent.utf8))
        // Foundation encodes it when it makes the URL.
        let url = try #require(URL(string: "http://127.0.0.1:\(site.server.port)\(path)"))
        #expect(try await site.loader.load(HTTPRequest(url: url)).body == Data(sent.utf8))
    }

    @Test func acceptEncodingOfRequestIsSent() async throws {
        let site = try Site()
        site.server.fallback { request in .ok(request.headers["Accept-Encoding"] ?? "none") }
        #expect(try await site.load("/") { $0.headers["Accept-Encoding"] = "identity" }.body == Data("identity".utf8))
    }

    @Test func responseHasMetrics() async throws {
        let timers = ManualTimers()
        let site = try Site(timers: timers)
        site.server.route("/m", method: .post) { _ in
            timers.advance(by: .milliseconds(40))
            return .ok("12345")
        }
        let response = try await site.load("/m") {
            $0.method = .post
            $0.body = DataBody(Data("abc".utf8))
        }
        let metrics = try #require(response.metrics)
        #expect(metrics.bytesSent == 3)
        #expect(metrics.bytesReceived == 5)
        #expect(metrics.timeToFirstByte == .milliseconds(40))
        #expect(metrics.duration == .milliseconds(40))
        #expect(metrics.start == ManualTimers.defaultDate)
        #expect(metrics.redirects == 0)
        let phases = try #require(metrics.phases)
        let parts = phases.named.compactMap(\.time)
        #expect(parts.allSatisfy { $0 >= .zero })
        #expect(phases.waiting != nil && phases.receiving != nil)
        #if canImport(FoundationNetworking)
            // The phases follow each other, without overlaps. On other systems the session's clock measures them.
            if TestedTerminal.current == .urlSession { #expect(parts.reduce(.zero, +) <= metrics.duration) }
        #endif
    }

    @Test(arguments: ["ftp", "file", "data"])
    func nonHTTPSchemeIsRejected(_ scheme: String) async throws {
        let error = await TestedTerminal.makeLoader().failure(
            HTTPRequest(scheme: scheme, host: "127.0.0.1", path: "/etc/passwd"))
        #expect(error?.code == .invalidRequest)
        #expect(error?.loader == TestedTerminal.current.rawValue)
    }

    #if os(Linux)
        @Test(.only(.urlSession), arguments: [Double.infinity, .nan, 1e300, -1])
        func timeoutOfConfigurationMayHaveAnyValue(_ seconds: Double) async throws {
            let site = try Site()
            site.server.fallback { _ in .ok("well") }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = seconds
            var request = HTTPRequest(url: site.server.url("/"))
            request.timeout = .seconds(3_600)
            #expect(try await URLSessionLoader(configuration: configuration).load(request).body == Data("well".utf8))
        }
    #endif

    @Test(.only(.urlSession)) func sessionOfCallerIsUsed() async throws {
        let server = try LoopbackServer()
        server.fallback { _ in .ok() }
        let configuration = URLSessionConfiguration.patient
        configuration.httpAdditionalHeaders = ["X-Session": "mine"]
        let session = URLSession(configuration: configuration)
        let loader = URLSessionLoader(session: session)
        _ = try await loader.load(HTTPRequest(url: server.url("/")))
        #expect(server.requests.first?.headers["X-Session"] == "mine")
        session.invalidateAndCancel()
    }

    @Test func schemeInCapitalsIsAccepted() async throws {
        let site = try Site()
        site.server.route("/") { _ in .ok("hello") }
        #expect(try await site.load("/") { $0.scheme = "HTTP" }.body == Data("hello".utf8))
    }

    @Test(.only(.urlSession)) func cookiesAreNeitherStoredNorReplaced() async throws {
        let site = try Site()
        site.server.route("/") { _ in LoopbackReply.ok().header("Set-Cookie", "id=server; Path=/") }
        for configuration in [URLSessionConfiguration.default, .ephemeral] {
            configuration.timeoutIntervalForRequest = 3600
            let loader = URLSessionLoader(configuration: configuration)
            _ = try await loader.load(site.request("/"))
            _ = try await loader.load(site.request("/"))
            #expect(site.server.requests.last?.headers["Cookie"] == nil)
            _ = try await loader.load(site.request("/") { $0.headers["Cookie"] = "id=mine" })
            #expect(site.server.requests.last?.headers["Cookie"] == "id=mine")
        }
    }

    #if os(Linux)
        /// Requests that the session would silently change.
        @Test(.only(.urlSession), arguments: ["get", "Post", "head"])
        func methodWithLowercaseLettersIsRejected(_ method: String) async throws {
            let site = try Site()
            let error = await site.failure("/") { $0.method = HTTPMethod(method) }
            #expect(error?.code == .invalidRequest)
            #expect(error?.reason?.contains("upper case") == true)
            #expect(site.server.requests.isEmpty)
        }

        @Test(.only(.urlSession), arguments: ["/a/../b", "/./b", "/..", "/a/.", "/a/%2e%2E/b", "/%2E", "/.%2e/b"])
        func pathWithDotSegmentsIsRejected(_ path: String) async throws {
            let site = try Site()
            let error = await site.failure("/") { $0.path = path }
            #expect(error?.code == .invalidRequest)
            #expect(site.server.requests.isEmpty)
        }

        @Test(arguments: ["/a%2Fb", "/a%252", "/a..b/.c/...", "/%7Euser", "//a//b", "/a;b=1,2", "/+%20"])
        func pathIsSentUnchanged(_ path: String) async throws {
            let site = try Site()
            site.server.fallback { _ in .ok() }
            _ = try await site.load("/") { $0.path = path }
            #expect(site.server.requests.last?.path == path)
        }

        @Test(.only(.urlSession)) func ipv6AddressIsRejectedWithReason() async {
            let error = await URLSessionLoader().failure(HTTPRequest(scheme: "http", host: "::1", port: 9))
            #expect(error?.code == .invalidRequest)
            #expect(error?.reason?.contains("IPv6") == true)
        }
    #endif
}
