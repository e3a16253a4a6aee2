import Foundation
import InfluxReporting
import LineProtocol
import LoaderChain
import LoaderChainTerminal
import Testing

@testable import APIHealthKit

#if os(Linux) || os(macOS)
    import TestProcesses
#endif

/// The dashboards and alert rules that the guide gives to users.
@Suite(.timeLimit(.minutes(10))) struct DashboardTests {
    @Test(arguments: [Dashboard.influxQL, Dashboard.flux])
    func everyPanelHasQueriesAndItsOwnPlace(_ file: String) throws {
        let dashboard = try Dashboard(file)
        #expect(Set(dashboard.panels.map(\.id)).count == dashboard.panels.count)
        #expect(dashboard.panels.allSatisfy { !$0.targets.isEmpty && $0.targets.allSatisfy { !$0.query.isEmpty } })
        for (index, panel) in dashboard.panels.enumerated() {
            #expect(panel.gridPos.x >= 0 && panel.gridPos.x + panel.gridPos.w <= 24)
            for other in dashboard.panels[..<index] {
                #expect(!panel.gridPos.overlaps(other.gridPos), "\(panel.title) lies on \(other.title)")
            }
        }
    }

    @Test func bothDashboardsHaveSamePanelTitles() throws {
        let (one, other) = (try Dashboard(Dashboard.influxQL), try Dashboard(Dashboard.flux))
        #expect(one.panels.map(\.title) == other.panels.map(\.title))
    }

    @Test(arguments: [Dashboard.influxQL, Dashboard.flux])
    func cancelledAndResetRequestsAreNoFailures(_ file: String) throws {
        let panel = try Dashboard(file).panels.first { $0.title == "Failures by what went wrong" }
        let query = try #require(panel?.targets.first).query
        #expect(query.contains("cancelled") && query.contains("reset"))
    }

    /// The first and the last interval of a range would have few requests, or none.
    @Test func alertQueriesDoNotGroupByTime() throws {
        let queries = try Dashboard.alertQueries()
        #expect(queries.count == 2 && queries.allSatisfy { $0.hasSuffix(#" GROUP BY "host""#) }, "\(queries)")
    }
}

#if os(Linux) || os(macOS)
    /// Every query on a database that the program has filled; run by `Tests/servers.sh`, and skipped without it.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(
            if: ProcessInfo.processInfo.environment["INFLUX_V1_URL"] != nil,
            "INFLUX_V1_URL is not set; run this under Tests/servers.sh"))
    struct DashboardRealServerTests {
        @Test func everyQueryReturnsValue() async throws {
            let database = try await RealDatabase("dashboards_\(UInt32.random(in: 0 ... .max))")
            let folder = try TestFolder()
            let demo = try await ChildProcess.run(
                ChildProcess.product("apihealth"),
                [
                    "--seconds", "3", "--json", "--influx", database.address, "--database", database.name, "--spool",
                    folder.path("spool"), "--patience", "10m",
                ])
            #expect(demo.status == 0, "\(demo.errors)")
            try await dropAPoint(at: database)

            let queries = try Dashboard(Dashboard.influxQL).queries + Dashboard.alertQueries()
            #expect(queries.count > 15)
            for query in queries {
                let series = try await database.ask(Dashboard.filledIn(query))
                let hasValue = series.contains { series in
                    series.values.contains { row in
                        row.dropFirst().contains { $0.number != nil || $0.text?.isEmpty == false }
                    }
                }
                #expect(hasValue, "\(query) finds nothing")
            }
            try await database.drop()
        }

        /// Has a writer report that it could not keep something.
        private func dropAPoint(at database: RealDatabase) async throws {
            var settings = WriterSettings()
            settings.batchBytes = 8_192
            let url = try #require(URL(string: database.address))
            let writer = try InfluxWriter(
                destination: .influxDB1(url, database: database.name), chain: SystemTerminal(), settings: settings)
            writer.write(Point("long", fields: ["text": .string(String(repeating: "x", count: 10_000))]))
            let report = await writer.shutDown(within: .seconds(600))
            #expect(report.delivered >= 1)
        }
    }
#endif

/// A dashboard's file, as far as it is looked into here.
private struct Dashboard: Decodable {
    static let influxQL = "api-health-influxql.json"
    static let flux = "api-health-flux.json"

    struct Panel: Decodable {
        struct Target: Decodable { let query: String }

        struct Place: Decodable {
            let x, y, w, h: Int

            func overlaps(_ other: Place) -> Bool {
                x < other.x + other.w && other.x < x + w && y < other.y + other.h && other.y < y + h
            }
        }

        let id: Int
        let title: String
        let gridPos: Place
        let targets: [Target]
    }

    struct Variables: Decodable {
        struct Variable: Decodable {
            let type: String
            let query: String
        }

        let list: [Variable]
    }

    let panels: [Panel]
    let templating: Variables

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Documentation/Dashboards").standardizedFileURL

    init(_ file: String) throws {
        self = try JSONDecoder().decode(Dashboard.self, from: Data(contentsOf: Self.folder.appending(path: file)))
    }

    /// What it asks the database, for its panels and for its variables.
    var queries: [String] {
        panels.flatMap(\.targets).map(\.query) + templating.list.filter { $0.type == "query" }.map(\.query)
    }

    static func alertQueries() throws -> [String] {
        let text = try String(contentsOf: folder.appending(path: "alert-rules.yaml"), encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            line.range(of: " query: ").map { String(line[$0.upperBound...]) }
        }
    }

    /// The query as Grafana sends it, for the last hour and everything chosen.
    static func filledIn(_ query: String) -> String {
        [("$timeFilter", "time > now() - 1h"), ("$__interval", "10s"), ("$host", ".*"), ("$path", ".*")]
            .reduce(query) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
