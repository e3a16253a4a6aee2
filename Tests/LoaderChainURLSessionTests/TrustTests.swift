#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import LoaderChainURLSession
    import TestProcesses
    import Testing

    /// Server trust, with certificates and pins.
    @Suite(.timeLimit(.minutes(10))) struct TrustTests {
        @Test func aServerThatSignedItsOwnCertificateIsNotTrusted() async throws {
            guard let openssl = ChildProcess.find("openssl") else {
                print("Passed over: openssl is not installed")
                return
            }
            let folder = try Folder()
            let made = try await ChildProcess.run(
                openssl,
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "certificate", "-days",
                    "2",
                    "-subj", "/CN=localhost",
                ], in: folder.url)
            #expect(made.status == 0, "\(made.errors)")
            let port = try freePort()
            let server = try ChildProcess(
                openssl, ["s_server", "-accept", "\(port)", "-key", "key", "-cert", "certificate", "-www"],
                in: folder.url, input: .held)
            // It says so when it listens; without that line, it has ended.
            while let line = await server.output.line(), !line.hasPrefix("ACCEPT") {}
            let loader = URLSessionLoader(configuration: .patient)
            let error = await loader.failure(HTTPRequest(scheme: "https", host: "localhost", port: port))
            withExtendedLifetime(server) {}
            #expect(error?.code == .insecureConnection, "\(String(describing: error?.underlyingError))")
        }

        @Test func aServerThatSpeaksNoTLSIsNotTrusted() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok() }
            let loader = URLSessionLoader(configuration: .patient)
            let error = await loader.failure(HTTPRequest(scheme: "https", host: "127.0.0.1", port: server.port))
            #expect(error?.code == .insecureConnection, "\(String(describing: error?.underlyingError))")
        }

        @Test func pinsAreNeverPassedOverInSilence() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok("unpinned") }
            let pin = try #require(PublicKeyHash(base64: "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E="))
            let loader = URLSessionLoader(configuration: .patient, serverTrust: .pinned(["localhost": [pin]]))
            for scheme in ["http", "https"] {
                let error = await loader.failure(HTTPRequest(scheme: scheme, host: "LocalHost", port: server.port))
                #expect(error?.code == .insecureConnection)
            }
            #expect(server.connectionCount == 0)
            #expect(try await loader.load(HTTPRequest(url: server.url("/"))).body == Data("unpinned".utf8))
        }

        @Test func aRedirectToAPinnedHostIsNotFollowedWithoutThePin() async throws {
            let server = try LoopbackServer()
            server.route("/a") { _ in .redirect(to: "http://localhost/") }
            let pin = try #require(PublicKeyHash(base64: "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E="))
            let loader = URLSessionLoader(configuration: .patient, serverTrust: .pinned(["localhost": [pin]]))
            #expect(await loader.failure(HTTPRequest(url: server.url("/a")))?.code == .insecureConnection)
        }

        @Test(arguments: ["", "short", "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E"])
        func whatIsNoHashIsNoPin(_ text: String) { #expect(PublicKeyHash(base64: text) == nil) }
    }

    /// A free port, for a program that takes its port as an argument.
    ///
    /// It lies below those that a system gives to sockets that ask for any. Otherwise another test's server could take it before
    /// the program does, and requests to the program would reach that server.
    func freePort() throws -> Int {
        for _ in usablePorts {
            let port = nextPort.withLock { next in
                defer { next = next + 1 < usablePorts.upperBound ? next + 1 : usablePorts.lowerBound }
                return next
            }
            do {
                try LoopbackServer(port: UInt16(port)).stop()
                return port
            } catch let error as SystemError where error.code == EADDRINUSE {}
        }
        throw SystemError("bind", code: EADDRINUSE)
    }

    private let usablePorts = 12_000..<30_000
    // Other processes that run these tests begin elsewhere.
    private let nextPort = Locked(Int.random(in: usablePorts))
#endif
