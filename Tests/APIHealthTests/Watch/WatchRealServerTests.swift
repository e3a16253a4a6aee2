#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import TestProcesses
    import Testing

    @testable import APIHealthKit

    /// A watch that writes to a real InfluxDB 1; run by `Tests/servers.sh`, and skipped without it.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(
            if: ProcessInfo.processInfo.environment["INFLUX_V1_URL"] != nil,
            "INFLUX_V1_URL is not set; run this under Tests/servers.sh"))
    struct WatchRealServerTests {
        @Test(arguments: [SIGINT, SIGTERM])
        func everyCheckIsStoredInDatabase(signal: Int32) async throws {
            let database = try await RealDatabase("apihealth_\(signal)_\(UInt32.random(in: 0 ... .max))")
            let folder = try TestFolder()
            let first = try LoopbackServer.restartable()
            first.fallback { _ in .ok("well") }
            let child = try ChildProcess(
                ChildProcess.product("apihealth"),
                [
                    "watch", first.url("/a").absoluteString, first.url("/b").absoluteString, "--every", "20ms",
                    "--influx",
                    database.address, "--database", database.name, "--spool", folder.path("spool"), "--patience", "10m",
                ])
            var seen = WatchedLines()
            await seen.read(from: child) { $0.healthy == 20 }
            first.stop()
            await seen.read(from: child) { $0.bad >= 20 }
            let second = try LoopbackServer(port: UInt16(first.port))
            second.fallback { _ in .ok("well") }
            let before = seen.healthy
            await seen.read(from: child) { $0.healthy >= before + 20 }
            child.send(signal)
            await seen.read(from: child) { _ in false }
            #expect(await child.end() == .exited(ProgramStatus.unhealthy.rawValue))

            let counts = try await database.ask("SELECT COUNT(attempts) FROM APIHealth GROUP BY outcome")
                .reduce(into: [String: Int]()) { $0[$1.tags?["outcome"] ?? ""] = $1.values[0][1].number.map(Int.init) }
            let cut = counts["cancelled"] ?? 0
            #expect(counts["success"] == seen.healthy)
            #expect(counts.values.reduce(0, +) - cut == seen.healthy + seen.bad)
            #expect(
                seen.summary.contains {
                    $0.withoutCommas.hasPrefix("\(seen.healthy + seen.bad + cut) points of metrics went to ")
                })
            try await database.drop()
        }
    }
#endif
