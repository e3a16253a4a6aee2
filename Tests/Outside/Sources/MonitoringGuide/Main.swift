import Foundation
import InfluxReporting
import LineProtocol
import LoaderChain
import LoaderChainTesting
import Steps

@main
enum Main {
    static func main() async throws {
        guard let url = URL(string: "https://influx.example.com"),
            let own = URL(string: "https://cloud.example.com/api/v1/write?bucket=health")
        else { return }
        let destinations = [
            try InfluxDestination.influxDB1(
                url, database: "health", retentionPolicy: "one_week",
                authorization: .password("a password", user: "app")),
            try InfluxDestination.influxDB2(
                url, organization: "acme", bucket: "health", authorization: .token("t1")),
            try InfluxDestination.influxDB3(url, database: "health", authorization: .bearer("t1")),
            try InfluxDestination.victoriaMetrics(url),
            try InfluxDestination.custom(own, like: .v2, authorization: .token("t1")),
        ]
        await collect(for: destinations[0])

        section("Servers")
        for destination in destinations { try await write(to: destination) }

        section("Credentials")
        try await write(to: .influxDB1(url, database: "health", authorization: .passwordInQuery("p1", user: "app")))
        try await write(
            to: .influxDB2(url, organization: "acme", bucket: "health", authorization: .header("X-Key", "k")))
        show("shown by a description: \("\(destinations[1])".contains("t1"))")

        section("What a response means")
        let long = String(repeating: "x", count: 10_000)
        for (status, body) in [(204, ""), (401, #"{"code":"unauthorized","message":"unauthorized access"}"#)] {
            let terminal = ScriptedTerminal { _ in .success(HTTPStatus(status), body: body) }
            let writer = InfluxWriter(destination: destinations[1], chain: terminal)
            writer.write(Point("queue", fields: ["length": 1]))
            let report = await writer.flush(within: .seconds(10))
            show("\(status): delivered \(report.delivered), kept \(report.pending)")
            await writer.shutDown(within: .zero)
        }
        part("How lines are named")
        part("How many requests it takes")

        section("Compression")
        let terminal = ScriptedTerminal { _ in .success(.noContent) }
        let writer = InfluxWriter(destination: destinations[1], chain: terminal)
        for text in ["short", long] {
            writer.write(Point("queue", fields: ["text": .string(text)]))
            await writer.flush(within: .seconds(10))
            show(terminal.requests.last?.body.additionalHeaders["Content-Encoding"] ?? "as it is")
        }
        await writer.shutDown()

        section("Limits of servers")
        section("Queries")
        section("Dashboards")
    }

    /// Writes a point with a prepared series, and shows what became of it.
    static func collect(for destination: InfluxDestination) async {
        section("Points")
        let terminal = ScriptedTerminal { _ in .success(.noContent) }
        let writer = InfluxWriter(destination: destination, chain: terminal)
        let series = writer.series("frames", tags: ["screen": "home"])
        writer.write(series) { fields in
            fields.set("dropped", 3)
            fields.set("duration", 0.016)
        }
        show("held \(writer.statistics.held)")

        section("When batches are sent")
        let report = await writer.flush(within: .seconds(10))
        show("delivered \(report.delivered), rejected \(report.rejected), pending \(report.pending)")

        section("Failures")
        section("Memory")
        section("On disk")

        section("Statistics")
        let statistics = writer.statistics
        show("accepted \(statistics.accepted), delivered \(statistics.delivered), held \(statistics.held)")
        await writer.shutDown()
    }

    /// Writes a point, and shows the request to the server.
    static func write(to destination: InfluxDestination) async throws {
        let terminal = ScriptedTerminal { _ in .success(.noContent) }
        let writer = InfluxWriter(destination: destination, chain: terminal)
        writer.write(Point("queue", fields: ["length": 1]))
        await writer.shutDown()
        let request = terminal.requests[0]
        let scheme = request.headers["Authorization"]?.prefix { $0 != " " } ?? "no Authorization"
        show("\(request.url?.absoluteString ?? "") \(scheme)")
    }
}
