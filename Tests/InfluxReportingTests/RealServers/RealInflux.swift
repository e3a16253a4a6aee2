#if os(Linux) || os(macOS)
    import DurableFilesTesting
    import Foundation
    import LoaderChain
    import LoaderChainTerminal
    import TestProcesses
    import Testing

    @testable import InfluxReporting

    /// A separate InfluxDB 1 for a test, which can be stopped and restarted.
    final class RealInflux: Sendable {
        /// Its configuration.
        struct Settings: Sendable {
            /// Whether it requires authentication.
            var asksForCredentials = false
            /// The maximum number of bytes of a request's body; nil for the default.
            var bodyLimit: Int?
        }

        /// The user with write permission, for a server with authentication.
        static let user = "writer"
        static let password = "it's a: \"secret\""
        /// A JSON web token for the same user, signed with the servers' secret, valid until the year 2100.
        static let webToken =
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1c2VybmFtZSI6IndyaXRlciIsImV4cCI6NDEwMjQ0NDgwMH0."
            + "CHuOgVZVNhXpyYUZh0cjYEQJ_xnTVIr2SkNlF-F-Daw"

        let url: URL
        let chain: HTTPLoader =
            Autocancel() --> ModifyRequest { $0.timeout = .seconds(300) } --> SystemTerminal()
        private let program: URL
        private let folder: TemporaryDirectory
        private let process: Locked<ChildProcess?>

        init(_ settings: Settings = Settings()) async throws {
            program = try #require(ChildProcess.find("influxd"), "influxd is not installed")
            while true {
                try Task.checkCancellation()
                // Below the range of ephemeral ports, and above the ports of other tests, so that it is still free after a restart.
                let port = Int.random(in: 30_000..<32_000)
                let folder = try TemporaryDirectory()
                try folder.put(Data(Self.configuration(folder.url.path, port, settings).utf8), at: "influxdb.conf")
                let process = try Self.start(program, in: folder)
                let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
                guard await Self.isUp(url, process, chain) else { continue }
                (self.url, self.folder, self.process) = (url, folder, Locked(process))
                break
            }
            if settings.asksForCredentials {
                _ = try await query("CREATE USER admin WITH PASSWORD 'admin' WITH ALL PRIVILEGES")
            }
            _ = try await query("CREATE DATABASE points WITH DURATION INF")
            if settings.asksForCredentials {
                let password = Self.password.replacing("'", with: "\\'")
                _ = try await query("CREATE USER \(Self.user) WITH PASSWORD '\(password)'")
                _ = try await query("GRANT WRITE ON points TO \(Self.user)")
            }
        }

        private static func configuration(_ folder: String, _ port: Int, _ settings: Settings) -> String {
            """
            reporting-disabled = true
            bind-address = "127.0.0.1:0"
            [meta]
              dir = "\(folder)/meta"
            [data]
              dir = "\(folder)/data"
              wal-dir = "\(folder)/wal"
              query-log-enabled = false
            [monitor]
              store-enabled = false
            [http]
              bind-address = "127.0.0.1:\(port)"
              log-enabled = false
              auth-enabled = \(settings.asksForCredentials)
              shared-secret = "the tests' own secret"
              max-body-size = \(settings.bodyLimit ?? 25_000_000)
            """
        }

        private static func start(_ program: URL, in folder: TemporaryDirectory) throws -> ChildProcess {
            try ChildProcess(
                program, ["-config", folder.url.appending(path: "influxdb.conf").path], in: folder.url,
                keepsOutput: false)
        }

        /// Waits until the server responds; false if the server has ended or the time limit of the test was reached.
        private static func isUp(_ url: URL, _ process: ChildProcess, _ chain: HTTPLoader) async -> Bool {
            while process.isRunning, !Task.isCancelled {
                let response = try? await chain.load(HTTPRequest(url: url.appending(path: "ping")))
                if response?.status == .noContent, process.isRunning { return true }
            }
            return false
        }

        // MARK: Stopping and starting

        /// Kills it, which has the effect of a power failure.
        func kill() async {
            let process = process.withLock { replace(&$0, with: nil) }
            process?.send(SIGKILL)
            _ = await process?.end()
        }

        /// Restarts it, at the same address and with the same data.
        func start() async throws {
            let started = try Self.start(program, in: folder)
            process.withLock { $0 = started }
            #expect(await Self.isUp(url, started, chain), "influxd does not start again")
        }

        // MARK: Queries

        /// A destination in its database.
        func destination(_ authorization: InfluxAuthorization = .none) throws -> InfluxDestination {
            try .influxDB1(url, database: "points", authorization: authorization)
        }

        /// The result of a query: rows of cells, with the names in the first row.
        func query(_ text: String) async throws -> [[String]] {
            var request = HTTPRequest(method: .post, url: url.appending(path: "query"), headers: ["Accept": "text/csv"])
            request.queryItems = [HTTPQueryItem("db", "points"), HTTPQueryItem("epoch", "ms")]
            request.headers["Authorization"] = "Basic " + Data("admin:admin".utf8).base64EncodedString()
            request.body = FormBody([("q", text)])
            let response = try await chain.load(request)
            try #require(response.status == .ok, "\(String(decoding: response.body, as: UTF8.self))")
            return TableText.rows(of: response.body)
        }
    }
#endif
