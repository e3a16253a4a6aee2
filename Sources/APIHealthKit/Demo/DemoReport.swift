import Foundation
import LoaderChain

/// The result of the demo as one JSON object.
struct DemoReport: Encodable {
    struct Route: Encodable {
        var method: String
        var host: String
        var route: String
        var requests: Int
        var outcomes: [String: Int]
        var latency: Latency
        var histogram: Histogram
    }

    struct Histogram: Encodable {
        /// The bounds between the counts, one fewer than there are counts.
        var boundsInMilliseconds = LatencyBars.bounds
        var counts: [Int]
    }

    struct Loader: Encodable {
        var name: String
        var did: String
    }

    var seconds: Double
    var seed: UInt64
    var requests: Int
    var retries: Int
    var cancelled: Int
    var routes: [Route]
    var chain: [Loader]
    var file: MetricStores.FileResult?
    var influx: InfluxResult?
    var pointsLost: Int

    init(_ snapshot: DemoSnapshot, _ run: DemoRun, seed: UInt64, _ outcome: MetricStores.Outcome) {
        seconds = snapshot.elapsed / .seconds(1)
        self.seed = seed
        requests = snapshot.started
        retries = snapshot.retries
        cancelled = run.cancelled
        routes = snapshot.rows.map {
            Route(
                method: $0.method, host: $0.host, route: $0.route, requests: $0.summary.count,
                outcomes: $0.summary.outcomes, latency: Latency($0.summary.latency),
                histogram: Histogram(counts: $0.bars.counts))
        }
        chain = snapshot.nodes.map { Loader(name: $0.name, did: $0.text) }
        file = outcome.file
        influx = outcome.influx
        pointsLost = outcome.losses
    }
}
