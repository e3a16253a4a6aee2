import LoaderChain

/// The quantiles of a histogram for a report, in milliseconds.
struct Latency: Encodable {
    var p50: Double?
    var p90: Double?
    var p99: Double?
    var maximum: Double?

    init(_ histogram: LatencyHistogram) {
        func milliseconds(_ duration: Duration?) -> Double? {
            duration.map { ($0 / .microseconds(1)).rounded() / 1_000 }
        }
        p50 = milliseconds(histogram.quantile(0.5))
        p90 = milliseconds(histogram.quantile(0.9))
        p99 = milliseconds(histogram.quantile(0.99))
        maximum = milliseconds(histogram.maximum)
    }
}
