import LoaderChain

/// The result of a watch as one JSON object.
struct WatchReport: Encodable {
    struct Endpoint: Encodable {
        var url: String
        var checks: Int
        var healthy: Int
        var cancelled: Int
        var missed: Int
        var outages: Int
        var secondsDown: Double
        var isHealthy: Bool?
        var last: String?
        var latency: Latency
    }

    var seconds: Double
    var isAllHealthy: Bool
    var endpoints: [Endpoint]
    var file: MetricStores.FileResult?
    var influx: InfluxResult?
    var pointsLost: Int

    init(_ state: WatchState, _ outcome: MetricStores.Outcome, at now: TimerInstant) {
        seconds = state.start.duration(to: now) / .seconds(1)
        isAllHealthy = state.isAllHealthy
        endpoints = state.endpoints.map {
            Endpoint(
                url: $0.name, checks: $0.checks, healthy: $0.healthy, cancelled: $0.cancelled, missed: $0.missed,
                outages: $0.outages, secondsDown: $0.downtime(by: now) / .seconds(1), isHealthy: $0.isHealthy,
                last: $0.last?.text, latency: Latency($0.latency))
        }
        file = outcome.file
        influx = outcome.influx
        pointsLost = outcome.losses
    }
}
