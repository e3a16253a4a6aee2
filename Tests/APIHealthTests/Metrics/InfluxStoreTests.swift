#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import TestProcesses
    import Testing

    @testable import APIHealthKit

    /// A watch whose metrics go to a database, which is a loopback server that takes whatever comes.
    @Suite(.timeLimit(.minutes(10))) struct InfluxStoreTests {
        private let folder: TestFolder
        private let watched: LoopbackServer

        init() throws {
            folder = try TestFolder()
            watched = try LoopbackServer()
            watched.fallback { _ in .ok("well") }
        }

        /// Runs a watch whose checks are good, however long they take.
        private func watch(_ arguments: String...) async throws -> ChildProcess.Outcome {
            try await ChildProcess.run(
                ChildProcess.product("apihealth"),
                [
                    "watch", watched.url("/a").absoluteString, "--every", "10ms", "--timeout", "10m", "--spool",
                    folder.path("spool"),
                ] + arguments)
        }

        /// The lines that a server was sent, which are too few to be compressed.
        private func lines(_ server: LoopbackServer) -> [Substring] {
            server.requests.flatMap { $0.text.split(separator: "\n") }
        }

        @Test func pointsWaitWhileDatabaseIsDown() async throws {
            // Of the same address as the one that comes later.
            let database = try LoopbackServer.restartable()
            let address = database.baseURL.absoluteString
            database.stop()
            let first = try await watch(
                "--count", "3", "--patience", "100ms", "--influx", address, "--database", "health")
            #expect(first.status == 0)
            #expect(first.output.contains("3 points wait in \(folder.path("spool")) and are sent by the next run"))
            let again = try LoopbackServer(port: UInt16(database.port))
            again.fallback { _ in .status(.noContent) }
            let second = try await watch(
                "--count", "2", "--patience", "10m", "--influx", address, "--database", "health")
            #expect(second.status == 0)
            #expect(second.output.contains("5 points of metrics went to database health at \(address)"))
            let lines = lines(again)
            // A line comes again, as the same point, if its answer was too late.
            #expect(Set(lines).count == 5)
            #expect(
                lines.allSatisfy {
                    $0.hasPrefix("APIHealth,host=127.0.0.1,method=GET,module=apihealth,outcome=success,")
                })
            #expect(again.requests.allSatisfy { $0.path == "/write" && $0.query?.contains("db=health") == true })
        }

        @Test func tokenIsSentToDatabaseAndNotPrinted() async throws {
            try folder.write("s3cret\n", to: "token")
            let database = try LoopbackServer()
            database.fallback { _ in .status(.noContent) }
            let address = database.baseURL.absoluteString
            let end = try await watch(
                "--once", "--patience", "10m", "--influx", address, "--bucket", "health", "--org", "acme",
                "--token-file",
                folder.path("token"))
            #expect(end.status == 0)
            #expect(end.output.contains("1 point of metrics went to bucket health of acme at \(address)"))
            let request = try #require(database.requests.first)
            #expect(request.path == "/api/v2/write")
            #expect(request.headers["Authorization"] == "Token s3cret")
            #expect(!(end.output + end.errors).contains("s3cret"))
        }

        @Test func unauthorizedWriteFailsAndKeepsPoints() async throws {
            let database = try LoopbackServer()
            database.fallback { _ in .json(#"{"error":"authorization failed"}"#).with(.unauthorized) }
            let address = database.baseURL.absoluteString
            let end = try await watch(
                "--once", "--patience", "10m", "--influx", address, "--database", "health", "--json")
            #expect(end.status == ProgramStatus.failure.rawValue)
            let report = try #require(try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any])
            let influx = try #require(report["influx"] as? [String: Any])
            #expect(influx["kept"] as? Int == 1)
            #expect(influx["isRefused"] as? Bool == true)
            #expect((influx["obstacle"] as? String)?.contains("authorization failed") == true)
        }

        @Test func rejectedPointFailsAndIsNotKept() async throws {
            let database = try LoopbackServer()
            database.fallback { request in
                let line = request.text.trimmingCharacters(in: .newlines)
                let error = ["error": "partial write: unable to parse '\(line)': no dropped=0"]
                let body = (try? JSONEncoder().encode(error)) ?? Data()
                return .json(String(decoding: body, as: UTF8.self)).with(.badRequest)
            }
            let address = database.baseURL.absoluteString
            let end = try await watch(
                "--once", "--patience", "10m", "--influx", address, "--database", "health", "--json")
            #expect(end.status == ProgramStatus.failure.rawValue)
            let report = try #require(try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any])
            let influx = try #require(report["influx"] as? [String: Any])
            #expect(influx["rejected"] as? Int == 1 && influx["kept"] as? Int == 0)
            #expect(influx["isRefused"] as? Bool == false)
        }

        @Test func spoolFolderInUseIsRejected() async throws {
            let database = try LoopbackServer()
            database.fallback { _ in .status(.noContent) }
            let address = database.baseURL.absoluteString
            let child = try ChildProcess(
                ChildProcess.product("apihealth"),
                [
                    "watch", watched.url("/a").absoluteString, "--timeout", "10m", "--spool", folder.path("spool"),
                    "--influx", address, "--database", "health", "--patience", "10m",
                ])
            while let line = await child.output.line(), !line.contains("Z  ok ") {}
            let second = try await watch("--once", "--influx", address, "--database", "health")
            #expect(second.status == ProgramStatus.failure.rawValue)
            #expect(second.errors.hasSuffix("another apihealth writes there; give each its own with --spool"))
            child.send(SIGTERM)
            _ = await child.output.rest()
            #expect(await child.end() == .exited(0))
        }

        @Test(arguments: [
            (["--influx", "x"], "--influx needs the address of a server, such as http://127.0.0.1:8086"),
            (["--influx", "http://a"], "InfluxDB 1 needs --database NAME"),
            (["--influx", "http://a", "--bucket", "b"], "InfluxDB 2 needs --org NAME"),
            (["--influx", "http://a", "--influx-version", "3"], "InfluxDB 3 needs --database NAME"),
            (
                ["--influx", "http://a", "--influx-version", "4"],
                "--influx-version cannot be “4”; give a whole number from 1 to 3"
            ),
            (
                ["--influx", "http://a", "--database", "d", "--org", "o"],
                "--org is not for InfluxDB 1; leave it out, or give another --influx-version"
            ),
            (
                ["--influx", "http://a", "--database", "d", "--influx-version", "2"],
                "--database is not for InfluxDB 2; leave it out, or give another --influx-version"
            ),
            (["--bucket", "b"], "--bucket needs a database; give its address with --influx URL"),
            (
                ["--influx", "http://a", "--bucket", "b", "--database", "c"],
                "--database and --bucket cannot be combined; give one of them"
            ),
            (["--influx", "http://a", "--database", ""], "The database is empty."),
            (
                ["--influx", "http://a", "--database", "d", "--token-file", "/no/such"],
                "/no/such cannot be read; give a readable file to --token-file"
            ),
        ])
        func invalidDatabaseOptionsAreRejected(arguments: [String], message: String) throws {
            let error = #expect(throws: ProgramError.self) {
                try StoreArguments(WatchArguments.syntax.parse(["http://a"] + arguments))
            }
            #expect(error?.message == message)
        }

        /// A killed process leaves a line for everything that it has reported, and no request waits for the spool folder.
        @Test func onlyFileIsWrittenAtOnce() throws {
            let arguments = try StoreArguments(
                WatchArguments.syntax.parse([
                    "http://a", "--file", folder.path("m.lp"), "--influx", "http://a", "--database", "d", "--spool",
                    folder.path("spool"),
                ]))
            let stores = try MetricStores(arguments, surroundings: TestProgram().surroundings)
            #expect(stores.sinks.map(\.isImmediate) == [true, false])
        }

        @Test func everyDatabaseHasItsOwnSpoolFolder() {
            let home = InfluxStore.folder(for: "database a at http://x", in: ["HOME": "/home/ada"])
            #expect(home.hasPrefix("/home/ada/.local/state/apihealth/database-a-at-http---x-"))
            #expect(home != InfluxStore.folder(for: "database b at http://x", in: ["HOME": "/home/ada"]))
            let state = InfluxStore.folder(for: "../..", in: ["HOME": "/home/ada", "XDG_STATE_HOME": "/state"])
            #expect(state.hasPrefix("/state/apihealth/------"))
        }
    }

    extension LoopbackReply {
        fileprivate func with(_ status: HTTPStatus) -> Self {
            var reply = self
            reply.status = status
            return reply
        }
    }
#endif
