#if os(Linux)
    import Dispatch
    import DurableFilesTesting
    import Foundation
    import LoaderChainTesting
    import TestProcesses
    import TestServers
    import TestSizes
    import Testing

    @testable import LoaderChain
    @testable import LoaderChainCurl

    /// What the terminal over libcurl has of its own.
    @Suite(.timeLimit(.minutes(10)), .enabled(if: CurlLoader.isAvailable)) struct CurlTests {
        // MARK: Connections

        @Test func hostIsReachedAtGivenAddress() async throws {
            let server = try LoopbackServer()
            server.fallback { .ok($0.headers["Host"] ?? "") }
            let loader = patient { $0.addresses["API.example.invalid"] = ["127.0.0.1"] }
            let request = HTTPRequest(scheme: "http", host: "api.example.invalid", port: server.port)
            #expect(try await loader.load(request).body == Data("api.example.invalid:\(server.port)".utf8))
        }

        /// libcurl remembers a list of addresses that it has not read, longer than that is there.
        @Test func refusedRequestLeavesNothingToTheNext() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok() }
            let loader = patient { $0.addresses["api.example.invalid"] = ["127.0.0.1"] }
            for _ in 0..<3 {
                let long = HTTPRequest(
                    scheme: "http", host: "api.example.invalid", port: server.port,
                    path: "/" + String(repeating: "a", count: 9_000_000))
                #expect(await loader.failure(long)?.code == .invalidRequest)
                #expect(try await loader.load(HTTPRequest(url: server.url("/"))).status == .ok)
            }
        }

        /// The first address refuses connections; what the system said of that is not why the response ends.
        @Test func responseIsNotJudgedByFailureOfAnEarlierAddress() async throws {
            let server = try LoopbackServer { client in
                while client.readHead() != nil {
                    client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n")
                }
            }
            defer { server.stop() }
            let loader = patient { $0.addresses["api.example.invalid"] = ["127.0.0.2", "127.0.0.1"] }
            let request = HTTPRequest(scheme: "http", host: "api.example.invalid", port: server.port)
            #expect(await loader.failure(request)?.code == .invalidResponse)
        }

        @Test func requestGoesToUnixSocket() async throws {
            guard let nginx = try NginxServer("listen unix:FOLDER/socket; location / { return 200 $host; }") else {
                return
            }
            let path = nginx.folder.url.appending(path: "socket").path
            // nginx listens on its port first.
            try await eventually("the socket is there") { Self.listens(onSocketAt: path) }
            var request = HTTPRequest(scheme: "http", host: "engine.example")
            request.unixSocket = path
            // A proxy is for networks.
            let loader = patient { $0.proxies = HTTPProxies(http: "http://127.0.0.1:1", https: nil) }
            #expect(try await loader.load(request).body == Data("engine.example".utf8))
            request.unixSocket = "/nowhere"
            #expect(await loader.failure(request)?.code == .cannotConnect)
        }

        private static func listens(onSocketAt path: String) -> Bool {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(client) }
            return withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
        }

        /// An nginx that has HTTP/2, and how to trust it; nil without nginx or openssl.
        private func secureServer(_ location: String) async throws -> (NginxServer, TLSOptions, HTTPRequest)? {
            guard let openssl = ChildProcess.find("openssl") else { return nil }
            let (folder, port) = (try TemporaryDirectory(), try freePort())
            let made = try await ChildProcess.run(
                openssl,
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    "key", "-out", "certificate", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                ], in: folder.url)
            #expect(made.status == 0)
            let path = folder.url.path
            guard
                let nginx = try NginxServer(
                    """
                    listen 127.0.0.1:\(port) ssl http2; ssl_certificate \(path)/certificate; ssl_certificate_key \(path)/key;
                    location / { \(location) }
                    """)
            else { return nil }
            var tls = TLSOptions()
            tls.authorities = .only(.data(try Data(contentsOf: folder.url.appending(path: "certificate"))))
            return (nginx, tls, HTTPRequest(scheme: "https", host: "localhost", port: port))
        }

        /// Over HTTP/2 only if the system's libcurl is new enough.
        @Test func requestsShareConnections() async throws {
            guard let (nginx, tls, request) = try await secureServer("return 200 $http2/$connection_requests;") else {
                return
            }
            defer { withExtendedLifetime(nginx) {} }
            var shared = CurlConfiguration.patient
            shared.allowsHTTP2 = true
            let loader = try CurlLoader(tls: tls, configuration: shared)
            let metrics = try #require(try await loader.load(request).metrics)
            let version = try CurlLibrary.system.get().hasSoundHTTP2 ? "h2" : "http/1.1"
            #expect(metrics.networkProtocol == version && metrics.phases?.secureConnection != nil)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        let response = try await loader.load(request)
                        return response.metrics?.networkProtocol == version
                            && response.metrics?.reusedConnection == true
                    }
                }
                let isShared = try await group.contains(true)
                #expect(isShared)
            }
            // The tunnel is no part of the request.
            let proxy = try LoopbackServer.tunnel(to: try #require(request.port), answering: "HTTP/1.1 200 OK\r\n\r\n")
            defer { proxy.stop() }
            var tunneled = CurlConfiguration.patient
            tunneled.proxies = HTTPProxies(http: nil, https: "http://127.0.0.1:\(proxy.port)")
            var post = request
            post.method = .post
            post.body = DataBody(pattern(100))
            #expect(try await CurlLoader(tls: tls, configuration: tunneled).load(post).status == .ok)
            let response = try await CurlLoader(tls: tls, configuration: .patient).load(request)
            #expect(response.metrics?.networkProtocol == "http/1.1" && response.body == Data("/1".utf8))
        }

        /// A proxy that is reached over TLS must be trusted.
        @Test func requestGoesThroughSecureProxy() async throws {
            guard let (nginx, tls, proxy) = try await secureServer("return 200 $host;") else { return }
            defer { withExtendedLifetime(nginx) {} }
            var configuration = CurlConfiguration.patient
            configuration.proxies = HTTPProxies(http: proxy.url?.absoluteString, https: nil)
            let request = HTTPRequest(scheme: "http", host: "api.example.invalid")
            let response = try await CurlLoader(tls: tls, configuration: configuration).load(request)
            #expect(response.body == Data("api.example.invalid".utf8))
            #expect(await CurlLoader(configuration: configuration).failure(request)?.code == .insecureConnection)
        }

        /// Streams of one connection if the system's libcurl is new enough: older ones took some of these for whole.
        @Test func cutBodyBesideOthersIsNoWholeBody() async throws {
            let origin = try LoopbackServer()
            origin.fallback { request in
                let reply = LoopbackReply.ok(pattern(20_000))
                return switch request.path {
                case "/cut": reply.hangingUp(at: .body(10_000))
                case "/cut-chunks": reply.chunked(by: 1_000).hangingUp(at: .body(10_000))
                default: reply
                }
            }
            let pass = "proxy_pass http://127.0.0.1:\(origin.port);"
            guard let (nginx, tls, request) = try await secureServer(pass) else { return }
            defer { withExtendedLifetime(nginx) {} }
            var configuration = CurlConfiguration.patient
            configuration.allowsHTTP2 = true
            let loader = try CurlLoader(tls: tls, configuration: configuration)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<60 {
                    group.addTask {
                        var request = request
                        guard index % 2 == 0 else { return try await loader.load(request).body == pattern(20_000) }
                        request.path = index % 4 == 1 ? "/cut" : "/cut-chunks"
                        return await loader.failure(request)?.code == .connectionLost
                    }
                }
                for try await isAsMeant in group { #expect(isAsMeant) }
            }
        }

        @Test func trailersAreRead() async throws {
            let server = try LoopbackServer()
            server.fallback { request in
                let reply = LoopbackReply.chunks(["hello ", "world"], trailers: ["X-Sum": "7", "X-End": "ok"])
                return request.headers.contains("X-Coded") ? reply.gzipped() : reply
            }
            let loader = patient { _ in }
            var request = HTTPRequest(url: server.url("/"))
            let whole = try await loader.load(request)
            #expect(whole.body == Data("hello world".utf8))
            #expect(whole.trailers["x-sum"] == "7" && whole.trailers["X-End"] == "ok")
            #expect(!whole.headers.contains("X-Sum"))
            request.headers["X-Coded"] = "1"
            let coded = try await loader.load(request)
            #expect(coded.body == whole.body && coded.trailers["X-Sum"] == "7")
            request.delivery = .chunks
            let streamed = try await loader.load(request)
            let chunks = try #require(streamed.chunks)
            #expect(chunks.trailers.isEmpty)
            #expect(try await chunks.collect(upTo: 100) == whole.body)
            #expect(chunks.trailers["X-Sum"] == "7" && streamed.trailers.isEmpty)
            let folder = try TemporaryDirectory()
            request.delivery = .file(folder.url.appending(path: "body"))
            #expect(try await loader.load(request).trailers["X-End"] == "ok")
        }

        /// Over HTTP/2 only if the system's libcurl is new enough.
        @Test func trailersOfNginxAreRead() async throws {
            guard let (nginx, tls, request) = try await secureServer("add_trailer X-Sum 7; return 200 body;") else {
                return
            }
            defer { withExtendedLifetime(nginx) {} }
            var configuration = CurlConfiguration.patient
            configuration.allowsHTTP2 = true
            let response = try await CurlLoader(tls: tls, configuration: configuration).load(request)
            #expect(response.body == Data("body".utf8) && response.trailers["X-Sum"] == "7")
        }

        @Test func versionOfLibraryIsKnown() throws {
            #expect(CurlLoader.libraryVersion?.wholeMatch(of: /[78]\.[0-9]{1,2}\.[0-9]{1,2}/) != nil)
        }

        @Test func timesOfNewAndKeptConnectionAreMeasured() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok("hello") }
            let loader = patient { _ in }
            let first = try #require(try await loader.load(HTTPRequest(url: server.url("/"))).metrics)
            #expect(first.reusedConnection == false && first.networkProtocol == "http/1.1")
            #expect(
                first.phases?.connect != nil && first.phases?.waiting != nil && first.phases?.secureConnection == nil)
            let named = try await loader.load(HTTPRequest(scheme: "http", host: "localhost", port: server.port))
            #expect(named.metrics?.phases?.nameLookup != nil)
            // A connection that was idle for two minutes is not used again, and a busy machine may take that long.
            for _ in 0..<1_000 {
                let next = try #require(try await loader.load(HTTPRequest(url: server.url("/"))).metrics)
                if next.reusedConnection == true { return #expect(next.phases?.connect == nil) }
            }
            Issue.record("no connection was kept")
        }

        @Test func idempotentRequestIsSentAgainOnDeadConnection() async throws {
            let body = DataBody(pattern(300_000))
            for _ in 0..<1_000 {
                let server = try LoopbackServer()
                server.route("/warm") { _ in .ok() }
                server.route("/act", replies: .hangUp(), .ok("again"))
                let loader = patient { _ in }
                _ = try await loader.load(HTTPRequest(url: server.url("/warm")))
                let result = await loader.result(
                    of: HTTPRequest(method: .put, url: server.url("/act"), body: body))
                // On a busy machine, the connection may have been idle for too long to be used again.
                guard server.requests.prefix(2).map(\.connection) == [1, 1] else { continue }
                #expect(result.response?.body == Data("again".utf8))
                #expect(server.requests.dropFirst().map(\.body) == [pattern(300_000), pattern(300_000)])
                #expect(result.response?.metrics?.bytesSent == 300_000)
                return
            }
            Issue.record("no connection was kept")
        }

        // MARK: The end of a transfer

        @Test func handlerThatWaitsHoldsUpNoOtherRequest() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok() }
            let loader = patient { _ in }
            let (gate, done) = (DispatchSemaphore(value: 0), EventLog())
            for number in 0..<32 {
                loader.load(request: HTTPRequest(url: server.url("/\(number)"))) { _ in
                    // The last one lets the others go.
                    if number < 8 { gate.wait() }
                    done.note("\(number)")
                }
            }
            await done.waitForEvents(24)
            for _ in 0..<8 { gate.signal() }
            await done.waitForEvents(32)
            #expect(Set(done.events).count == 32)
        }

        @Test func taskCompletesOnCarryingThreadIfAsked() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok() }
            let loader = patient {
                $0.completesOnCarryingThread = true
                $0.threads = 2
            }
            let threads = Locked<Set<UInt>>([])
            for _ in 0..<20 {
                await withCheckedContinuation { continuation in
                    loader.load(request: HTTPRequest(url: server.url("/"))) { _ in
                        threads.withLock { _ = $0.insert(UInt(pthread_self())) }
                        continuation.resume()
                    }
                }
            }
            #expect(threads.withLock { $0.count } == 2)
        }

        @Test func taskThatIsCancelledBeforeItsStartEnds() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok().held() }
            let loader = patient { _ in }
            let log = EventLog()
            for _ in 0..<500 {
                loader.load(request: HTTPRequest(url: server.url("/"))) { log.note($0.error?.code.rawValue ?? "none") }
                    .cancel()
            }
            await log.waitForEvents(500)
            #expect(Set(log.events) == ["cancelled"])
            try await loader.waitUntilIdle()
        }

        /// A cancel on another thread may come before the start that it belongs to.
        @Test func stopThatOvertakesItsStartEndsTransfer() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok().held() }
            let library = try CurlLibrary.system.get()
            let transport = CurlTransport(.patient, CurlTrust(environment: [:]), timers: SystemTimers.shared)
            let settings = ExchangeOwner.Settings(
                headers: [:], timeout: .seconds(3600), resourceTimeout: .seconds(3600), nameOfResourceTimeout: "none",
                responseSizeLimit: 100)
            let request = HTTPRequest(url: server.url("/"))
            let task = HTTPTask(request: request)
            let exchange = Exchange(
                task, by: "Test", on: ExchangeOwner(settings, over: transport, timers: SystemTimers.shared))
            let loop = try #require(CurlLoop(library, idleConnections: 1, endsOnLoop: false, hasHTTP2: false))
            let transfer = CurlTransfer(try request.encoded(), .empty, for: exchange, on: loop, transport)
            #expect(exchange.begin(transfer))
            #expect(exchange.receive(.ok, [:]) && exchange.receive(Data("a".utf8)))
            exchange.stop(.cancelled)
            // Which ends decoding, however much there is still to decode.
            #expect(!exchange.receive(Data("b".utf8)))
            loop.start(transfer)
            let result = await withCheckedContinuation { continuation in
                task.addCompletionHandler { continuation.resume(returning: $0) }
            }
            #expect(result.error?.code == .cancelled && loop.count == 0)
            #expect(server.requests.isEmpty)
        }

        /// libcurl makes pieces of 16 KB of what it has read; they are joined, and none may wait for another that does not come.
        @Test func joinedPiecesDoNotWaitForMore() async throws {
            let lengths = [16 << 10, 1, 48 << 10, 16 << 10, 300_000, 128 << 10, 512 << 10, 5]
            let whole = pattern(lengths.reduce(0, +))
            let next = DispatchSemaphore(value: 0)
            let server = try LoopbackServer { client in
                guard client.readHead() != nil else { return }
                client.send("HTTP/1.1 200 OK\r\nContent-Length: \(whole.count)\r\n\r\n")
                var rest = whole[...]
                for length in lengths {
                    next.wait()
                    guard client.send(rest.prefix(length)) else { return }
                    rest = rest.dropFirst(length)
                }
            }
            defer {
                // The server's thread must not wait for ever if the test ends early.
                for _ in lengths { next.signal() }
                server.stop()
            }
            var request = HTTPRequest(url: server.url("/"))
            request.delivery = .chunks
            let chunks = try #require(try await patient { _ in }.load(request).chunks)
            var iterator = chunks.makeAsyncIterator()
            var (read, expected) = (Data(), 0)
            for length in lengths {
                next.signal()
                expected += length
                while read.count < expected { read += try #require(try await iterator.next()) }
            }
            #expect(read == whole)
            #expect(try await iterator.next() == nil)
        }

        /// libcurl may pass on more of a body after its reader has gone, and before the stop comes.
        @Test func stoppedReaderGetsNoBytesThatWereNotDecoded() async throws {
            let transport = CurlTransport(.patient, CurlTrust(environment: [:]), timers: SystemTimers.shared)
            let settings = ExchangeOwner.Settings(
                headers: [:], timeout: .seconds(3600), resourceTimeout: .seconds(3600), nameOfResourceTimeout: "none",
                responseSizeLimit: 100)
            var request = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
            request.delivery = .chunks
            let task = HTTPTask(request: request)
            let exchange = Exchange(
                task, by: "Test", on: ExchangeOwner(settings, over: transport, timers: SystemTimers.shared))
            exchange.leg = Exchange.Leg(request: request, redirects: 0, begin: SystemTimers.shared.now)
            let loop = try #require(
                CurlLoop(try CurlLibrary.system.get(), idleConnections: 1, endsOnLoop: false, hasHTTP2: false))
            let transfer = CurlTransfer(try request.encoded(), .empty, for: exchange, on: loop, transport)
            // A loop would note the stop on a thread of its own, and later.
            #expect(exchange.begin(UnstoppedTransfer()))
            for line in ["HTTP/1.1 200 OK\r\n", "Content-Encoding: gzip\r\n", "\r\n"] {
                #expect(Array(line.utf8).withUnsafeBytes(transfer.takeHead))
            }
            let result = await withCheckedContinuation { continuation in
                task.addCompletionHandler { continuation.resume(returning: $0) }
            }
            let chunks = try #require(result.response?.chunks)
            let gzip = StoredGzip.stream(of: pattern(3_000))
            let pieces = stride(from: 0, to: gzip.count, by: 1_000).map { Data(gzip[$0..<min($0 + 1_000, gzip.count)]) }
            #expect(pieces[0].withUnsafeBytes(transfer.takeBody))
            // As a reset does.
            exchange.stop(.cancelled)
            for piece in pieces.dropFirst() { _ = piece.withUnsafeBytes(transfer.takeBody) }
            transfer.report(.stopped)
            var read = Data()
            do { for try await chunk in chunks { read += chunk } } catch {}
            #expect(pattern(3_000).starts(with: read))
        }

        @Test func exchangeThatIsOverBeforeItsTransferIsReleased() async throws {
            let begins = DispatchSemaphore(value: 0)
            let server = try LoopbackServer()
            server.route("/a") { _ in .redirect(to: "/b") }
            weak var owner: ExchangeOwner?
            do {
                let loader = patient { _ in }
                owner = loader.owner
                let (asked, isAsked) = AsyncStream.makeStream(of: Void.self)
                var request = HTTPRequest(url: server.url("/a"))
                request.redirects = .ask { _, next in
                    isAsked.yield()
                    begins.wait()
                    return next
                }
                let log = EventLog()
                let task = loader.load(request: request) { log.note($0.error?.code.rawValue ?? "none") }
                for await _ in asked { break }
                task.cancel()
                begins.signal()
                await log.waitForEvents(1)
                #expect(log.events == ["cancelled"])
            }
            try await eventually("the loader's part is released") { owner == nil }
        }

        // MARK: Bodies

        /// A server that never ends the body of a redirect does not keep it from being followed.
        @Test func redirectWithEndlessBodyIsFollowed() async throws {
            let server = try LoopbackServer { client in
                guard let head = client.readHead() else { return }
                if head.hasPrefix("GET /end") { return client.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend") }
                client.send("HTTP/1.1 302 Found\r\nLocation: /end\r\nTransfer-Encoding: chunked\r\n\r\n")
                let chunk = [UInt8]("1000\r\n".utf8) + [UInt8](repeating: 0, count: 4096) + [UInt8]("\r\n".utf8)
                while client.send(chunk) {}
            }
            defer { server.stop() }
            let loader = patient { _ in }
            let request = HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port)
            #expect(try await loader.load(request).body == Data("end".utf8))
        }

        /// 51 bytes that brotli makes of 64 MiB of zeros; a few kilobytes would fill the disk, and hold up the thread meanwhile.
        @Test func bodyThatGrowsOutOfProportionIsInvalid() async throws {
            guard BodyDecoder.accepted.contains("br") else { return }
            let bomb = try #require(
                Data(base64Encoded: "z///fwAkAOKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/P//9/ABIAcVgAuvf/"))
            let server = try LoopbackServer()
            server.fallback { _ in .ok(bomb).header("Content-Encoding", "br") }
            var request = HTTPRequest(url: server.url("/"))
            let folder = try TemporaryDirectory()
            request.delivery = .file(folder.url.appending(path: "body"))
            let error = await patient { _ in }.failure(request)
            #expect(error?.code == .invalidResponse && error?.reason?.contains("2000-fold") == true, "\(error as Any)")
            #expect(folder.names.isEmpty)
        }

        @Test func dumpHasNoPasswordOfProxy() {
            let loader = patient { $0.proxies = HTTPProxies(http: "http://user:secret@proxy:1", https: nil) }
            var dumped = ""
            dump(loader, to: &dumped)
            let numbers = dumped.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            let secret = "secret".utf8.map { "- \($0)" }
            #expect(!numbers.indices.contains { numbers[$0...].starts(with: secret) })
            #expect(!dumped.contains("secret"))
        }

        @Test func zstdIsDecoded() async throws {
            guard BodyDecoder.accepted.contains("zstd") else { return }
            let server = try LoopbackServer()
            let frame = Data([0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x29, 0, 0]) + Data("hello".utf8)
            server.route("/one") { _ in .ok(frame).header("Content-Encoding", "zstd") }
            server.route("/two") { _ in .ok(frame + frame).header("Content-Encoding", "zstd").chunked(by: 1) }
            server.route("/cut") { _ in .ok(frame.dropLast()).header("Content-Encoding", "zstd") }
            server.route("/damaged") { _ in .ok(frame + Data("x".utf8)).header("Content-Encoding", "zstd") }
            server.route("/both") { _ in
                .ok(StoredGzip.stream(of: frame)).header("Content-Encoding", "zstd, gzip").chunked(by: 1)
            }
            server.route("/none") { _ in
                LoopbackReply(.notModified, headers: ["Content-Encoding": "x-unknown", "ETag": "1"])
            }
            let loader = patient { _ in }
            func body(_ path: String) async -> String {
                do throws(HTTPError) {
                    return String(
                        decoding: try await loader.load(HTTPRequest(url: server.url(path))).body, as: UTF8.self)
                } catch {
                    return error.code.rawValue
                }
            }
            #expect(await body("/one") == "hello")
            #expect(await body("/two") == "hellohello")
            // Each coding could make a thousand times as much of what the one before it has made.
            #expect(await body("/both") == "invalidResponse")
            #expect(await body("/none") == "")
            #expect(await body("/cut") == "invalidResponse")
            #expect(await body("/damaged") == "invalidResponse")
        }

        /// Half a gigabyte of zeros in sixteen kilobytes, of which no more is made than is wanted.
        @Test func decodingEndsWithTheWishForBytes() async throws {
            guard BodyDecoder.accepted.contains("zstd") else { return }
            var bomb = Data([0x28, 0xB5, 0x2F, 0xFD, 0, 0x38])
            // Blocks of 128 KiB that repeat a byte.
            for _ in 0..<4_000 { bomb += [0x02, 0x00, 0x10, 0] }
            let server = try LoopbackServer()
            server.route("/bomb") { [bomb] _ in .ok(bomb).header("Content-Encoding", "zstd") }
            server.route("/redirect") { [bomb] _ in
                LoopbackReply(
                    .found, headers: ["Location": "/end", "Content-Encoding": "zstd"], body: .bytes(bomb))
            }
            server.route("/end") { _ in .ok("end") }
            let loader = patient { _ in }
            var request = HTTPRequest(url: server.url("/bomb"))
            request.delivery = .inMemory(upTo: 1 << 20)
            let error = await loader.failure(request)
            #expect(error?.code == .responseTooLarge)
            // At most one piece more than what was allowed.
            #expect(error?.response?.metrics?.bytesReceived ?? .max <= 1 << 20 + 1 << 17)
            #expect(try await loader.load(HTTPRequest(url: server.url("/redirect"))).body == Data("end".utf8))
        }

        @Test func codingThatRequestNamesIsDelivered() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok("raw").header("Content-Encoding", "x-own") }
            let loader = patient { _ in }
            var request = HTTPRequest(url: server.url("/"))
            request.headers["Accept-Encoding"] = "x-own"
            #expect(try await loader.load(request).body == Data("raw".utf8))
            let error = await loader.failure(HTTPRequest(url: server.url("/")))
            #expect(error?.reason?.contains("\"x-own\"") == true)
        }
    }

    /// A transfer that goes on.
    private final class UnstoppedTransfer: Transfer {
        func cancel() {}
        func measure(
            _ metrics: inout TransferMetrics, firstByte: TimerInstant?, until end: TimerInstant, isWhole: Bool
        ) {}
    }
#endif
