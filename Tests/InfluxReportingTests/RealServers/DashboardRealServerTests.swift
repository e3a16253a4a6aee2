#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import Testing

    @testable import InfluxReporting

    /// A dashboard shows the points that were sent.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(
            if: ProcessInfo.processInfo.environment["INFLUX_V1_URL"] != nil,
            "INFLUX_V1_URL is not set; run this under Tests/servers.sh"))
    struct DashboardRealServerTests {
        /// The mean duration per host and window: in Flux `group(columns: ["host"]) |> aggregateWindow(every: 1s, fn: mean)`,
        /// and in InfluxQL as below.
        @Test func storedMeanPerHostMatchesSentPoints() async throws {
            let influx = try await RealInflux()
            let sender = BatchSender(to: try influx.destination(), through: influx.chain)
            var sums: [String: [Int64: (sum: Double, count: Double)]] = [:]
            for part in Shape.batches(of: realServerPoints) {
                #expect(await sender.send(Shape.service.batch(part)).deliveredCount == part.count)
                for index in part {
                    let window = (Shape.firstMillisecond + Int64(index)) / 1_000 * 1_000
                    var entry = sums[Shape.host(index), default: [:]][window, default: (0, 0)]
                    entry.sum += Shape.duration(index)
                    entry.count += 1
                    sums[Shape.host(index), default: [:]][window] = entry
                }
            }
            let end = Shape.firstMillisecond + Int64(realServerPoints)
            let rows = try await influx.query(
                """
                SELECT mean("duration") FROM "APIHealth" WHERE time >= \(Shape.firstMillisecond)ms AND time < \(end)ms \
                GROUP BY time(1s), "host" fill(none)
                """)
            var found = 0
            for row in rows where row.first == "APIHealth" {
                let host = try #require(row[1].split(separator: "=").last.map(String.init))
                let window = try #require(Int64(row[2]))
                let expected = try #require(sums[host]?[window])
                let mean = try #require(Double(row[3]))
                #expect(abs(mean - expected.sum / expected.count) <= 1e-12)
                found += 1
            }
            #expect(found == sums.values.reduce(0) { $0 + $1.count } && found > 0)
        }
    }
#endif
