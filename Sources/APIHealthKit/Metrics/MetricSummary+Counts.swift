import LoaderChain

extension MetricSummary {
    var good: Int { self[.success] + self[.redirection] }

    /// How many requests say something about the server: all but those that were cancelled or reset here.
    var judged: Int { count - self[.cancelled] - self[.reset] }

    var goodShare: String { NumberText.percent(good, of: judged) }

    /// The counts above zero by the names of their outcomes.
    var outcomes: [String: Int] {
        let kinds = HTTPMetric.Outcome.Kind.allCases.filter { self[$0] > 0 }
        return Dictionary(uniqueKeysWithValues: kinds.map { ("\($0)", self[$0]) })
    }

    /// The requests that failed, counted by the way in which they did.
    var failures: String {
        let names: [(kind: HTTPMetric.Outcome.Kind, name: String)] = [
            (.serverError, "5xx"), (.clientError, "4xx"), (.failed, "failed"), (.unparsable, "unparsable"),
            (.rejected, "refused"), (.cancelled, "cancelled"), (.reset, "reset"),
        ]
        return names.filter { self[$0.kind] > 0 }.map { "\(self[$0.kind]) \($0.name)" }.joined(separator: ", ")
    }
}

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
