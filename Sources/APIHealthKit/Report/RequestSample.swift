import InfluxReporting
import LineProtocol
import LoaderChain

/// A request as a report needs it, read from its point.
struct RequestSample: Sendable {
    var host: String
    var method: String
    var route: String
    var duration: Duration
    var kind: HTTPMetric.Outcome.Kind
    /// The start in nanoseconds since 1970.
    var time: Int64
}

extension RequestSample {
    /// Reads a point; nil if it is not a request or is incomplete.
    init?(_ point: Point) {
        guard point.measurement == MetricPoint.requests, let time = point.timestamp?.nanoseconds,
            let seconds = point.fields["duration"]?.number, seconds >= 0, seconds < 1e9,
            let kind = HTTPMetric.Outcome.Kind.allCases.first(where: { $0.name == point.tags["outcome"] })
        else { return nil }
        self.init(
            host: Self.host(point.tags), method: point.tags["method"] ?? "",
            route: point.tags["path"] ?? "", duration: .seconds(1) * seconds, kind: kind, time: time)
    }

    /// The host, with its port unless that is the scheme's default.
    private static func host(_ tags: Tags) -> String {
        let host = tags["host"] ?? ""
        switch (tags["scheme"], tags["port"]) {
        case (_, nil), ("https", "443"), ("http", "80"): return host
        case (_, let port?): return "\(host):\(port)"
        }
    }
}

extension FieldValue {
    var number: Double? {
        switch self {
        case .double(let value): value
        case .float(let value): Double(value)
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .boolean, .string: nil
        }
    }
}
