import Foundation
import InfluxReporting
import LineProtocol
import LineProtocolFoundation
import LoaderChain
import LoaderChainTesting
import Steps

@main
enum Main {
    static func main() async throws {
        section("What you wrote, what you write now")
        guard let address = URL(string: "https://influx.example.com") else { return }

        try await withFolder { folder in
            section("A writer")
            let server = ScriptedTerminal { answer(to: $0) }
            let writer = try makeWriter(
                address, token: "t1", directory: folder.appending(path: "points"), terminal: server)
            show("\(writer)")

            section("Points")
            writer.write(Point("queue", tags: ["name": "uploads"], fields: ["length": 3, "oldest": 0.25]))
            var point = Point("queue", tags: ["name": "uploads"], fields: ["length": 3])
            point.tags["region"] = "eu"
            point.timestamp = Timestamp(Date())
            writer.write(point)
            let uploads = writer.series("queue", tags: ["name": "series"])
            writer.write(uploads) { fields in
                fields.set("length", 3)
                fields.set("oldest", 0.25)
            }
            let metrics = MetricRecorder(writer)
            metrics.event("cart opened", counters: ["items": 3])

            section("Batches")
            let report = await writer.flush(within: .seconds(600))
            show("delivered \(report.delivered), rejected \(report.rejected), kept \(report.kept)")
            for line in lines(of: server.requests.last) { show(line) }
            for name in ["Authorization", "Content-Type"] {
                show("\(name): \(server.requests.last?.headers[name] ?? "none")")
            }
            show(server.requests.last?.url?.absoluteString ?? "")

            section("Failures")
            for name in ["good", "poison", "better"] {
                writer.write(Point("queue", tags: ["name": name], fields: ["length": 1]))
            }
            let mixed = await writer.flush(within: .seconds(600))
            show("delivered \(mixed.delivered), rejected \(mixed.rejected): \(mixed.rejections.first?.reason ?? "")")

            section("Shutting down")
            writer.write(Point("queue", fields: ["length": 0]))
            let last = await writer.shutDown(within: .seconds(600))
            show("complete: \(last.isComplete)")
        }

        section("The article's class")
        let server = ScriptedTerminal { answer(to: $0) }
        let reporter = try HealthReporter(address: address, token: "t1", terminal: server)
        guard let url = URL(string: "https://api.example.com/people") else { return }
        reporter.addMetrics(url: url, duration: 0.25)
        await reporter.willDeactivate()
        for line in lines(of: server.requests.last) { show(line) }

        section("Differences")
        section("What you would miss")
    }

    /// The lines of a request without their timestamps, sorted.
    static func lines(of request: HTTPRequest?) -> [String] {
        text(of: request).split(separator: "\n").map { line in
            line.split(separator: " ").dropLast().joined(separator: " ")
        }.sorted()
    }

    static func text(of request: HTTPRequest?) -> String {
        String(decoding: (try? request?.body.encode().data(upTo: 1 << 20)) ?? Data(), as: UTF8.self)
    }

    /// The response of InfluxDB 2 to lines of which it refuses one.
    static func answer(to request: HTTPRequest) -> ScriptedTerminal.Answer {
        guard let bad = text(of: request).split(separator: "\n").first(where: { $0.contains("poison") }) else {
            return .success(.noContent)
        }
        return .success(
            .badRequest, headers: ["Content-Type": "application/json"],
            body: #"{"code":"invalid","message":"unable to parse '\#(bad)': it is poison"}"#)
    }
}
