import Foundation
import LineProtocol
import LoaderChain
import LoaderChainTesting
import MetricKitReporting
import ReportOutbox
import Steps

@main
enum Main {
    static func main() async throws {
        section("The payload")
        let payload = try MetricPayload(Data(json.utf8))
        let histograms = [payload.applicationLaunch?.timeToFirstDraw, payload.applicationResponsiveness?.hangTime]
        for histogram in histograms.compactMap({ $0 }) {
            let median = (histogram.median ?? .zero) / .milliseconds(1)
            show("\(histogram.count) values, median \(Int(median.rounded())) ms")
        }

        section("Two averages")
        let payloads = [payload]
        let averages = [
            payloads.average(for: \.applicationLaunch, applicationVersion: "1.2"),
            payloads.average(for: \.applicationResponsiveness, applicationVersion: "1.2"),
            payloads.hangRate(applicationVersion: "1.2")?.timePerHour(),
        ]
        for average in averages { show("\(Int(((average ?? .zero) / .milliseconds(1)).rounded())) ms") }
        show("of another version: \(payloads.average(for: \.applicationLaunch, applicationVersion: "1.3") ?? .zero)")

        section("Points")
        for point in payload.points() { show("\(point)".split(separator: " ")[0].description) }

        section("The dashboard")

        section("Receiving payloads on a device")
        try await withFolder { box in
            let server = ScriptedTerminal()
            let outbox = try ReportOutbox(directory: box, chain: server)
            let log = EventLog()
            let receiver = MetricKitReceiver(
                outbox: outbox, metricsRequest: HTTPRequest(method: .post, host: "d.example.com"),
                diagnosticsRequest: nil, tracking: [.points { point in log.note(point.measurement) }])
            receiver.receive([Data(json.utf8)], as: .metrics)
            await log.waitForEvents(2)
            show(log.events.joined(separator: ", "))
            let held = await server.next()
            show("arrives as it was: \(try held.request.body.encode().data(upTo: 10_000) == Data(json.utf8))")
            server.answer(held)
            await outbox.close()
        }
        section("Languages")
        section("Bounds")
    }

    /// The payload of the guide.
    static let json = """
        {
          "appVersion": "1.2",
          "timeStampBegin": "2019-10-22 06:59:00 +0000",
          "timeStampEnd": "2019-10-23 06:59:00 +0000",
          "applicationTimeMetrics": {"cumulativeForegroundTime": "700 sec"},
          "applicationLaunchMetrics": {
            "histogrammedTimeToFirstDrawKey": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "1,000 ms", "bucketEnd": "1,010 ms"},
                "1": {"bucketCount": 60, "bucketStart": "2,000 ms", "bucketEnd": "2,010 ms"},
                "2": {"bucketCount": 30, "bucketStart": "3,000 ms", "bucketEnd": "3,010 ms"}
              }
            }
          },
          "applicationResponsivenessMetrics": {
            "histogrammedAppHangTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "0 ms", "bucketEnd": "100 ms"},
                "1": {"bucketCount": 60, "bucketStart": "100 ms", "bucketEnd": "400 ms"},
                "2": {"bucketCount": 30, "bucketStart": "400 ms", "bucketEnd": "700 ms"}
              }
            }
          }
        }
        """
}
