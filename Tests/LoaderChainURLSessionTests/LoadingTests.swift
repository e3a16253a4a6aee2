import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests as they are sent and responses as they are delivered, without faults.
@Suite(.timeLimit(.minutes(10))) struct LoadingTests {
    @Test func aResponseHasItsStatusHeadersAndBody() async throws {
        let site = try Site()
        site.server.route("/a") { _ in .ok("hello").header("X-One", "1") }
        let response = try await site.load("/a")
        #expect(response.status == .ok)
        #expect(response.body == Data("hello".utf8))
        #expect(response.headers["x-one"] == "1")
        #expect(response.request.path == "/a")
    }

    @Test func aStatusThatSaysFailureIsAResponse() async throws {
        let site = try Site()
        site.server.route("/busy") { _ in .unavailable(retryAfter: 3) }
        let response = try await site.load("/busy")
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers["Retry-After"] == "3")
        #expect(try await site.load("/nowhere").status == .notFound)
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func methodsGoOverTheWireAsTheyAre(_ method: String) async throws {
        let site = try Site()
        site.server.fallback { _ in .ok("yes") }
        let response = try await site.load("/m") { $0.method = HTTPMethod(method) }
        #expect(response.status == .ok)
        #expect(response.body == Data((method == "HEAD" ? "" : "yes").utf8))
        #expect(site.server.requests.map(\.method.rawValue) == [method])
    }

    @Test func headersOfOneNameAreJoined() async throws {
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

    @Test func headersOfTheConfigurationAreFilledIn() async throws {
        let server = try LoopbackServer()
        server.fallback { _ in .ok() }
        let configuration = URLSessionConfiguration.patient
        configuration.httpAdditionalHeaders = ["X-App": "app", "X-Both": "configuration"]
        let loader = URLSessionLoader(configuration: configuration)
        _ = try await loader.load(HTTPRequest(url: server.url("/"), headers: ["X-Both": "request"]))
        let headers = try #require(server.requests.first).headers
        #expect(headers["X-App"] == "app")
        #expect(headers["X-Both"] == "request")
    }

    /// A loader that made a session for every request would never use a connection twice.
    ///
    /// How often one is used again is the session's affair: on a busy machine it may begin a request before it has the
    /// connection of the last one back.
    @Test func connectionsAreKept() async throws {
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

    @Test func manyAtOnceEachGetTheirOwn() async throws {
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

    @Test func informationalResponsesAreSkipped() async throws {
        let site = try Site()
        site.server.route("/early") { _ in
            .verbatim("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let response = try await site.load("/early")
        #expect(response.status == .ok)
        #expect(response.body == Data("ok".utf8))
    }

    @Test func aCodedBodyIsDecoded() async throws {
        let site = try Site()
        site.server.route("/gzip") { _ in .ok("packed").gzipped() }
        #expect(try await site.load("/gzip").body == Data("packed".utf8))
    }

    @Test func metricsTravelWithTheResponse() async throws {
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
    }

    @Test(arguments: ["ftp", "file", "data"])
    func anotherSchemeThanThoseOfHTTPIsRefused(_ scheme: String) async throws {
        let error = await URLSessionLoader().failure(
            HTTPRequest(scheme: scheme, host: "127.0.0.1", path: "/etc/passwd"))
        #expect(error?.code == .invalidRequest)
        #expect(error?.loader == "URLSessionLoader")
    }

    @Test func theUsersOwnSessionIsUsed() async throws {
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
}
