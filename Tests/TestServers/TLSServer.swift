#if os(Linux) || os(macOS)
    import DurableFilesTesting
    import Foundation
    import TestProcesses

    /// A TLS server of openssl with a certificate for a name, signed by an authority of its own.
    ///
    /// It serves one file, `page`.
    package final class TLSServer: Sendable {
        /// The port that it listens on.
        package let port: Int
        /// The file with the authority's certificate.
        package let authority: URL
        private let folder: TemporaryDirectory
        private let process: ChildProcess

        /// Starts a server; nil where openssl is missing.
        ///
        /// - Parameters:
        ///   - name: the host that the certificate is for.
        ///   - isExpired: whether its time is over.
        ///   - arguments: more arguments of `openssl s_server`.
        package init?(name: String = "localhost", isExpired: Bool = false, _ arguments: [String] = []) async throws {
            guard let openssl = ChildProcess.find("openssl") else { return nil }
            let folder = try TemporaryDirectory()
            let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            func run(_ command: String, _ arguments: [String]) async throws {
                let outcome = try await ChildProcess.run(openssl, [command] + arguments, in: folder.url)
                guard outcome.status == 0 else { throw Failure(text: outcome.errors) }
            }
            try await run(
                "req", ["-x509", "-keyout", "authority.key", "-out", "authority", "-subj", "/CN=authority"] + key)
            _ = try folder.file("settings", Data(Self.settings(for: name).utf8))
            _ = try folder.file("index", Data())
            try await run("req", ["-keyout", "key", "-out", "request", "-subj", "/CN=\(name)"] + key)
            try await run(
                "ca",
                [
                    "-batch", "-notext", "-config", "settings", "-in", "request", "-out", "certificate",
                    "-startdate", "20200101000000Z", "-enddate", isExpired ? "20200102000000Z" : "20991231000000Z",
                ])
            self.folder = folder
            _ = try folder.file(
                "page", Data("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello".utf8))
            authority = folder.url.appending(path: "authority")
            port = try freePort()
            process = try ChildProcess(
                openssl,
                ["s_server", "-quiet", "-accept", "\(port)", "-key", "key", "-cert", "certificate", "-HTTP"]
                    + arguments,
                in: folder.url, input: .held, keepsOutput: false)
            guard process.listens(on: port) else { throw Failure(text: "openssl s_server ended") }
        }

        /// What `openssl ca` wants to know, which unlike `openssl req` can make a certificate whose time is over.
        private static func settings(for name: String) -> String {
            """
            [ca]
            default_ca = usual
            [usual]
            certificate = authority
            private_key = authority.key
            database = index
            rand_serial = yes
            new_certs_dir = .
            default_md = sha256
            policy = any
            x509_extensions = server
            [any]
            commonName = supplied
            [server]
            basicConstraints = critical, CA:FALSE
            subjectAltName = DNS:\(name)
            """
        }

        private struct Failure: Error {
            let text: String
        }
    }
#endif
