#if os(Linux)
    import DurableFilesTesting
    import Foundation
    import LoaderChainTesting
    import TestProcesses
    import TestServers
    import Testing

    @testable import LoaderChain
    @testable import LoaderChainCurl

    /// What libcurl's words mean, and what the terminal's settings do.
    @Suite(.timeLimit(.minutes(10)), .enabled(if: CurlLoader.isAvailable)) struct CurlSettingsTests {
        // MARK: Meanings

        /// What several versions of libcurl and libraries for TLS say; the system's error tells nothing in most of them.
        static let failures: [(Int32, String, HTTPError.Code)] = [
            (
                56,
                "OpenSSL SSL_read: OpenSSL/3.0.17: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
                .connectionLost
            ),
            (56, "OpenSSL SSL_read: SSL_ERROR_SYSCALL, errno 0", .connectionLost),
            (56, "SSL_read: Connection reset by peer, errno 104", .connectionLost),
            (56, "GnuTLS recv error (-110): The TLS connection was non-properly terminated.", .connectionLost),
            (56, "Recv failure: Connection reset by peer", .connectionLost),
            (56, "Malformed encoding found in chunked-encoding", .invalidResponse),
            (56, "Problem (3) in the Chunked-Encoded data", .invalidResponse),
            (56, "chunk hex-length char not a hex digit: 0x6e", .invalidResponse),
            (56, "Too large response headers: 309237 > 307200", .invalidResponse),
            (56, "Proxy CONNECT aborted", .cannotConnect),
            (56, "CONNECT tunnel failed, response 0", .cannotConnect),
            (56, "Received HTTP code 0 from proxy after CONNECT", .cannotConnect),
            (35, "gnutls_handshake() failed: The TLS connection was non-properly terminated.", .cannotConnect),
            (35, "OpenSSL/3.0.17: error:0A000086:SSL routines::certificate verify failed", .insecureConnection),
        ]

        @Test(arguments: failures)
        func failureMeansTheSameWithEveryLibrary(_ result: Int32, _ words: String, _ code: HTTPError.Code) {
            #expect(CurlFailure(result: result, words: words).meaning(afterHead: false).code == code)
        }

        /// No longer than the system waits itself.
        @Test func silentHostIsGivenUpAfterTheTimeout() {
            let seconds = [0, 5, 60, 300, 899, 900, 86_400]
            #expect(
                seconds.map { CurlTransfer.mostSilence(for: .seconds($0)) }
                    == [60_000, 60_000, 60_000, 300_000, 899_000, nil, nil])
        }

        // MARK: Settings

        @Test func proxiesAreReadFromEnvironment() {
            let proxies = HTTPProxies(environment: [
                "http_proxy": "http://a:1", "HTTPS_PROXY": "http://user:secret@b:2", "no_proxy": "c, .d,,10.0.0.0/8",
            ])
            #expect(proxies.proxy(for: "http") == "http://a:1")
            #expect(proxies.proxy(for: "https") == "http://user:secret@b:2")
            #expect(proxies.listOfExceptions.hasPrefix("c,.d,10.0.0.0/8,localhost,"))
            #expect("\(proxies)".hasPrefix("http through http://a:1, https through b:2, except c,.d,10.0.0.0/8,"))
            #expect(HTTPProxies(environment: ["http_proxy": "a", "no_proxy": "*"]).listOfExceptions == "*")
            // A web server gives a stranger's header to programs under this name.
            #expect(HTTPProxies(environment: ["HTTP_PROXY": "http://a:1"]) == .none)
            let all = HTTPProxies(environment: ["ALL_PROXY": "socks5h://s:1", "https_proxy": ""])
            #expect(all.proxy(for: "http") == "socks5h://s:1" && all.proxy(for: "https") == "socks5h://s:1")
            var dumped = ""
            dump(proxies, to: &dumped)
            #expect(!dumped.contains("secret"))
        }

        /// Credentials go to this machine in plain text, and no further.
        @Test(arguments: ["localhost", "127.0.0.1"])
        func proxyOfEnvironmentSeesNothingForThisMachine(host: String) async throws {
            let (server, proxy) = (try LoopbackServer(), try LoopbackServer())
            server.fallback { _ in .ok("server") }
            proxy.fallback { _ in .ok("proxy") }
            let loader = patient {
                $0.proxies = HTTPProxies(environment: ["http_proxy": "http://127.0.0.1:\(proxy.port)"])
            }
            let own = HTTPRequest(scheme: "http", host: host, port: server.port)
            #expect(try await loader.load(own).body == Data("server".utf8))
            let others = HTTPRequest(scheme: "http", host: "api.example.invalid")
            #expect(try await loader.load(others).body == Data("proxy".utf8))
        }

        @Test func proxyReceivesItsPassword() async throws {
            let proxy = try LoopbackServer()
            proxy.fallback { _ in .ok("proxy") }
            let loader = patient {
                $0.proxies = HTTPProxies(http: "http://user:secret@127.0.0.1:\(proxy.port)", https: nil)
            }
            let response = try await loader.load(HTTPRequest(scheme: "http", host: "api.example.invalid"))
            #expect(response.body == Data("proxy".utf8))
            #expect(proxy.requests.map { $0.headers["Proxy-Authorization"] } == ["Basic dXNlcjpzZWNyZXQ="])
        }

        /// A proxy that knows no HTTP, and looks up the names of hosts itself.
        @Test func requestGoesThroughSOCKSProxy() async throws {
            let log = EventLog()
            let proxy = try LoopbackServer { client in
                let greeting = client.receive(2)
                guard greeting.count == 2, greeting[0] == 5, client.receive(Int(greeting[1])).contains(0) else {
                    return
                }
                client.send([5, 0])
                let (head, length) = (client.receive(4), client.receive(1))
                // To connect to a host of a name.
                guard head == [5, 1, 0, 3], let length = length.first else { return }
                log.note(String(decoding: client.receive(Int(length)), as: UTF8.self))
                guard client.receive(2) == [0, 80] else { return }
                client.send([5, 0, 0, 1, 127, 0, 0, 1, 0, 80])
                while let head = client.readHead() {
                    log.note(String(head.prefix { $0 != "\r\n" }))
                    client.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                }
            }
            defer { proxy.stop() }
            let loader = patient { $0.proxies = HTTPProxies(http: "socks5h://127.0.0.1:\(proxy.port)", https: nil) }
            let request = HTTPRequest(url: try #require(URL(string: "http://api.example.invalid/a?")))
            #expect(try await loader.load(request).body == Data("hello".utf8))
            #expect(log.events == ["api.example.invalid", "GET /a? HTTP/1.1"])
        }

        @Test(arguments: ["ftp://user:secret@a", "http://", "user:secret@", "mailto:secret", "http://a\u{0}:secret@b"])
        func proxyThatIsNoneIsInvalidRequest(_ proxy: String) async throws {
            let loader = patient { $0.proxies = HTTPProxies(http: proxy, https: nil) }
            let error = await loader.failure(HTTPRequest(scheme: "http", host: "a.invalid"))
            #expect(error?.code == .invalidRequest)
            #expect(error.map { "\($0)".contains("secret") } == false)
        }

        @Test func unreachableProxyIsCannotConnectWithoutItsPassword() async throws {
            for proxy in [
                "http://user:secret@no-such-host.invalid:1", "http://user:secret@127.0.0.1:\(try freePort())",
            ] {
                let loader = patient { $0.proxies = HTTPProxies(http: proxy, https: proxy) }
                let error = await loader.failure(HTTPRequest(scheme: "http", host: "a.invalid"))
                #expect(error?.code == .cannotConnect)
                #expect(error.map { "\($0)".contains("secret") } == false)
            }
        }
    }

    /// Authorities, pins, versions and certificates of clients.
    @Suite(.timeLimit(.minutes(10)), .enabled(if: CurlLoader.isAvailable)) struct CurlTrustTests {
        private func end(_ server: TLSServer, _ change: (inout TLSOptions) throws -> Void) async throws -> String {
            var tls = TLSOptions()
            tls.authorities = .only(.file(server.authority))
            try change(&tls)
            let loader = try CurlLoader(tls: tls, configuration: .patient)
            do throws(HTTPError) {
                let request = HTTPRequest(scheme: "https", host: "localhost", port: server.port, path: "/page")
                return String(decoding: try await loader.load(request).body, as: UTF8.self)
            } catch {
                return error.code.rawValue
            }
        }

        @Test func authoritiesMayBeTextOrBytesOrBesideSystems() async throws {
            guard let server = try await TLSServer() else { return }
            let text = try Data(contentsOf: server.authority)
            let der = try #require(PEM.blocks(in: text).first?.bytes)
            #expect(try await end(server) { _ in } == "hello")
            #expect(try await end(server) { $0.authorities = .only(.data(text)) } == "hello")
            #expect(try await end(server) { $0.authorities = .only(.data(der)) } == "hello")
            #expect(try await end(server) { $0.authorities = .systemAnd(.data(der)) } == "hello")
            #expect(try await end(server) { $0.authorities = .system } == "insecureConnection")
        }

        /// The environment does not widen what the program trusts.
        @Test func ownAuthoritiesTakePrecedenceOverEnvironment() async throws {
            guard let server = try await TLSServer() else { return }
            let environment = ["SSL_CERT_FILE": "/of-the-operator.pem"]
            #expect(CurlTrust(environment: environment).authorities?.path == "/of-the-operator.pem")
            var tls = TLSOptions()
            #expect(try CurlTrust(tls, environment: environment).authorities?.path == "/of-the-operator.pem")
            tls.authorities = .only(.file(server.authority))
            let own = try #require(try CurlTrust(tls, environment: environment).authorities)
            #expect(own.path != "/of-the-operator.pem")
            let text = try withExtendedLifetime(own) { try Data(contentsOf: URL(filePath: own.path)) }
            let der = try #require(PEM.blocks(in: try Data(contentsOf: server.authority)).first?.bytes)
            #expect(PEM.blocks(in: text).map(\.bytes) == [der])
        }

        @Test func keyOfServerMustBePinned() async throws {
            guard let server = try await TLSServer(), let openssl = ChildProcess.find("openssl") else { return }
            let shell = try #require(ChildProcess.find("sh"))
            let made = try await ChildProcess.run(
                shell,
                [
                    "-c",
                    "\(openssl.path) x509 -in \(server.authority.deletingLastPathComponent().path)/certificate -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64",
                ])
            let pin = try #require(PublicKeyHash(base64: made.output.trimmingCharacters(in: .whitespacesAndNewlines)))
            let other = try #require(PublicKeyHash(base64: Data(count: 32).base64EncodedString()))
            #expect(try await end(server) { $0.pins["localhost"] = [pin, other] } == "hello")
            #expect(try await end(server) { $0.pins["localhost"] = [other] } == "insecureConnection")
            #expect(try await end(server) { $0.pins["elsewhere.example"] = [other] } == "hello")
        }

        /// Neither directly nor by a redirect.
        @Test func pinnedHostIsNotReachedWithoutTLS() async throws {
            let server = try LoopbackServer()
            let pinned = "http://localhost:\(server.port)/"
            server.fallback { _ in .ok() }
            server.route("/away") { _ in .redirect(to: pinned) }
            var tls = TLSOptions()
            tls.pins["localhost"] = [try #require(PublicKeyHash(base64: Data(count: 32).base64EncodedString()))]
            let loader = try CurlLoader(tls: tls, configuration: .patient)
            let request = HTTPRequest(scheme: "http", host: "localhost", port: server.port)
            #expect(await loader.failure(request)?.code == .insecureConnection)
            #expect(server.requests.isEmpty)
            #expect(await loader.failure(HTTPRequest(url: server.url("/away")))?.code == .insecureConnection)
            #expect(server.requests.map(\.path) == ["/away"])
            #expect(try await loader.load(HTTPRequest(url: server.url("/"))).status == .ok)
        }

        @Test func versionOfTLSMustBeNewEnough() async throws {
            guard let server = try await TLSServer(["-tls1_2"]) else { return }
            #expect(try await end(server) { $0.minimumVersion = .v1_2 } == "hello")
            #expect(try await end(server) { $0.minimumVersion = .v1_3 } == "insecureConnection")
        }

        @Test func clientShowsItsCertificate() async throws {
            guard let openssl = ChildProcess.find("openssl") else { return }
            let folder = try TemporaryDirectory()
            func run(_ arguments: String...) async throws {
                #expect(try await ChildProcess.run(openssl, arguments, in: folder.url).status == 0)
            }
            try await run(
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", "key", "-out",
                "certificate", "-subj", "/CN=client", "-passout", "pass:secret")
            try await run(
                "pkcs12", "-export", "-in", "certificate", "-inkey", "key", "-passin", "pass:secret", "-passout",
                "pass:other", "-out", "archive")
            func file(_ name: String) -> TLSMaterial { .file(folder.url.appending(path: name)) }
            let wanted = [
                "-Verify", "1", "-verify_return_error", "-CAfile", folder.url.appending(path: "certificate").path,
            ]
            guard let server = try await TLSServer(wanted) else { return }
            #expect(try await end(server) { _ in } != "hello")
            #expect(
                try await end(server) {
                    $0.clientCertificate = .pem(
                        certificate: file("certificate"), key: file("key"), passphrase: "secret")
                } == "hello")
            #expect(
                try await end(server) { $0.clientCertificate = .pkcs12(file("archive"), passphrase: "other") }
                    == "hello")
            #expect(
                try await end(server) { $0.clientCertificate = .pkcs12(file("archive"), passphrase: "wrong") }
                    == "insecureConnection")
        }

        @Test func optionsThatAreNotWholeAreRefused() throws {
            var tls = TLSOptions()
            tls.authorities = .only(.file(URL(filePath: "/nowhere")))
            #expect(throws: TLSOptions.Refused.self) { try CurlLoader(tls: tls) }
        }
    }
#endif
