#if os(Linux) || os(macOS)
    import DurableFilesTesting
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import LoaderChainURLSession
    import TestProcesses
    import TestServers
    import Testing

    /// Server trust, with certificates and pins.
    @Suite(.timeLimit(.minutes(10))) struct TrustTests {
        @Test func selfSignedServerIsNotTrusted() async throws {
            guard let server = try await SelfSignedServer() else { return }
            let loader = URLSessionLoader(configuration: .patient)
            let error = await loader.failure(HTTPRequest(scheme: "https", host: "localhost", port: server.port))
            #expect(error?.code == .insecureConnection, "\(String(describing: error?.underlyingError))")
        }

        @Test func serverWithoutTLSFailsAsInsecureConnection() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok() }
            let loader = URLSessionLoader(configuration: .patient)
            let error = await loader.failure(HTTPRequest(scheme: "https", host: "127.0.0.1", port: server.port))
            #expect(error?.code == .insecureConnection, "\(String(describing: error?.underlyingError))")
        }

        @Test func defaultTLSOptionsAreAccepted() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok("system") }
            let loader = try URLSessionLoader(tls: TLSOptions(), configuration: .patient)
            #expect(try await loader.load(HTTPRequest(url: server.url("/"))).body == Data("system".utf8))
        }

        #if canImport(Security)
            @Test func pemClientCertificateIsRejectedByInit() throws {
                var options = TLSOptions()
                let material = TLSMaterial.pem("-----BEGIN CERTIFICATE-----")
                options.clientCertificate = .pem(certificate: material, key: material)
                let error = #expect(throws: TLSOptions.Refused.self) { try URLSessionLoader(tls: options) }
                #expect(error?.reason.contains("cannot use a client certificate as PEM") == true)
                #expect(error?.reason.contains("openssl pkcs12 -export") == true)
            }

            @Test func unreadablePKCS12ArchiveIsRejectedByInit() throws {
                var options = TLSOptions()
                options.clientCertificate = .pkcs12(.data(Data([0x30, 0])), passphrase: "geheim")
                let error = #expect(throws: TLSOptions.Refused.self) { try URLSessionLoader(tls: options) }
                #expect(error?.reason.contains("passphrase") == true && error?.reason.contains("geheim") == false)
            }
        #endif

        #if canImport(FoundationNetworking)
            @Test func unsupportedTLSOptionsAreRejectedByInit() throws {
                let pin = try #require(PublicKeyHash(base64: "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E="))
                var all: [TLSOptions] = Array(repeating: TLSOptions(), count: 4)
                all[0].pins["localhost"] = [pin]
                all[1].minimumVersion = .v1_2
                all[2].authorities = .only(.file(URL(filePath: "/etc/ssl/cert.pem")))
                all[3].clientCertificate = .pkcs12(.data(Data([0x30, 0])), passphrase: "geheim")
                for options in all {
                    let error = #expect(throws: TLSOptions.Refused.self) { try URLSessionLoader(tls: options) }
                    #expect(error?.reason.contains("URLSession on this system cannot") == true)
                    #expect(error?.reason.contains("libcurl") == true)
                    #expect(error?.reason.contains("geheim") == false)
                }
            }
        #endif
    }

    /// A TLS server of openssl, with a self-signed certificate; nil if openssl is missing.
    final class SelfSignedServer: Sendable {
        let port: Int
        let folder: TemporaryDirectory
        private let process: ChildProcess

        init?(_ arguments: String...) async throws {
            guard let openssl = ChildProcess.find("openssl") else {
                print("Passed over: openssl is not installed")
                return nil
            }
            folder = try TemporaryDirectory()
            let made = try await ChildProcess.run(
                openssl,
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "certificate", "-days",
                    "2", "-subj", "/CN=localhost",
                ], in: folder.url)
            #expect(made.status == 0, "\(made.errors)")
            port = try freePort()
            process = try ChildProcess(
                openssl,
                ["s_server", "-accept", "\(port)", "-key", "key", "-cert", "certificate", "-www"] + arguments,
                in: folder.url, input: .held)
            // It prints a line when it listens; without that line, it has ended.
            while let line = await process.output.line(), !line.hasPrefix("ACCEPT") {}
        }
    }
#endif
