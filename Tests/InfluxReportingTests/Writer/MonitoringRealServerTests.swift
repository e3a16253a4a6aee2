#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import Testing

    @testable import InfluxReporting

    /// From the tap to a query of the database.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(
            if: ProcessInfo.processInfo.environment["INFLUX_V1_URL"] != nil,
            "INFLUX_V1_URL is not set; run this under Tests/servers.sh"))
    struct MonitoringRealServerTests {
        /// The article's dashboard: in Flux `group(columns: ["host"]) |> aggregateWindow(fn: mean)`.
        @Test func storedMeanPerHostMatchesTap() async throws {
            let influx = try await RealInflux()
            var settings = WriterSettings()
            // No batch is sent before the flush, whatever the duration of the requests.
            settings.idleInterval = .seconds(600)
            settings.maximumAge = .seconds(600)
            let writer = InfluxWriter(destination: try influx.destination(), chain: influx.chain, settings: settings)
            let measured = Locked<[String: [Double]]>([:])
            let recorder = MetricRecorder(
                writer,
                ClosureSink(isImmediate: true) { record in
                    guard case .request(let metric) = record else { return }
                    measured.withLock { $0[metric.host, default: []].append(metric.duration / .seconds(1)) }
                })
            let chain = MetricsTap(recorder, tags: ["odd, \"tag\"": "a = b"]) --> ScriptedTerminal { _ in .success() }
            for number in 0..<1_000 {
                _ = try await chain.load(HTTPRequest(host: "api-\(number % 7).example.com", path: "/users/\(number)"))
            }
            let report = await writer.flush(within: .seconds(600))
            #expect(report.delivered == 1_000 && report.isComplete, "\(report)")

            let expected = measured.withLock { $0 }
            let rows = try await influx.query(
                #"SELECT mean("duration"), count("duration") FROM "APIHealth" GROUP BY "host""#)
            var found = 0
            for row in rows where row.first == "APIHealth" {
                let host = try #require(row[1].split(separator: "=").last.map(String.init))
                let durations = try #require(expected[host])
                let mean = durations.reduce(0, +) / Double(durations.count)
                // No two points were merged; only the order of the summation differs.
                #expect(Int(row[4]) == durations.count)
                #expect(abs((Double(row[3]) ?? .nan) - mean) <= mean * 1e-9)
                found += 1
            }
            #expect(found == 7)
            let paths = try await influx.query(#"SELECT count("duration") FROM "APIHealth" GROUP BY "path""#)
            #expect(paths.filter { $0.first == "APIHealth" }.map { $0[1] } == ["path=/users/{id}"])
        }
    }
#endif
