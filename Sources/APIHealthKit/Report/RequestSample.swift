import InfluxReporting
import LineProtocol
import LoaderChain

/// What a report needs of a request, read back from its point.
package struct RequestSample: Sendable {
    package var host: String
    package var method: String
    package var route: String
    package var duration: Duration
    package var kind: HTTPMetric.Outcome.Kind
    /// When it began, in nanoseconds since 1970.
    package var time: Int64

    package init(
        host: String, method: String, route: String, duration: Duration, kind: HTTPMetric.Outcome.Kind, time: Int64
    ) {
        self.host = host
        self.method = method
        self.route = route
        self.duration = duration
        self.kind = kind
        self.time = time
    }

    /// The request of a point; nil if the point is about something else, or lacks what matters.
    package init?(_ point: Point) {
        guard point.measurement == MetricPoint.requests, let time = point.timestamp?.nanoseconds,
            let seconds = point.fields["duration"]?.number, seconds >= 0, seconds < 1e9,
            let kind = HTTPMetric.Outcome.Kind.allCases.first(where: { $0.name == point.tags["outcome"] })
        else { return nil }
        self.init(
            host: Self.host(point.tags), method: point.tags["method"] ?? "",
            route: point.tags["path"] ?? "", duration: .seconds(1) * seconds, kind: kind, time: time)
    }
}

extension RequestSample {
    /// The host, with its port where that is not the scheme's own.
    private static func host(_ tags: Tags) -> String {
        let host = tags["host"] ?? ""
        switch (tags["scheme"], tags["port"]) {
        case (_, nil), ("https", "443"), ("http", "80"): return host
        case (_, let port?): return "\(host):\(port)"
        }
    }
}

extension FieldValue {
    /// The value of a field that is a number.
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
