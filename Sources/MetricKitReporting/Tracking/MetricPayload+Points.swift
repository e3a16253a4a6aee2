import LineProtocol
import ReportOutbox

extension MetricPayload {
    /// One point for each time that the payload has a histogram of, for a dashboard; none if the payload tells of several versions.
    ///
    /// The measurement is `metrickit`. Its tags are `metric`, with the names of `attributes(applicationVersion:by:)`,
    /// and `app_version`, `os_version` and `device` as far as they are known. Its fields are in milliseconds:
    ///
    /// | field | what |
    /// |---|---|
    /// | `count` | how many values there were, an integer |
    /// | `sum` | their sum by the ends of their buckets; divide sums by counts for the mean over many devices |
    /// | `avg`, `avg_midpoint` | their mean by the ends and by the midpoints |
    /// | `median`, `p90` | the quantiles 0.5 and 0.9 |
    /// | `foreground` | how long the app was used meanwhile; with `hang_time` alone |
    ///
    /// The time of a point is the end of the payload plus a part of a second that depends on the payload's bytes. Many
    /// devices have payloads that end at the same time, which would be one point to a server, while a payload that is sent
    /// again must be the same point.
    ///
    /// - Parameters:
    ///   - secondsFromGMT: the UTC offset of the device, for payloads that do not name their time zone.
    ///   - received: when the payload was received, for payloads that do not have an end.
    public func points(secondsFromGMT: Int? = nil, received: Timestamp? = nil) -> [Point] {
        guard !includesMultipleAppVersions else { return [] }
        let end = timeRange.end.flatMap { end in
            end.instant ?? secondsFromGMT.map { end.instant(secondsFromGMT: $0) }
        }
        let time = (end ?? received).map { apart($0) }
        return TimeMetric.allCases.compactMap { metric in
            guard let histogram = self[keyPath: metric.histogram], !histogram.isEmpty else { return nil }
            var point = Point(
                "metrickit", tags: ["metric": metric.rawValue], fields: Self.fields(histogram), timestamp: time)
            point.tags["app_version"] = appVersion
            point.tags["os_version"] = metaData?.osVersion
            point.tags["device"] = metaData?.deviceType
            if metric == .hangTime {
                point.fields["foreground"] = applicationTime?.foreground.map { .double($0.milliseconds) }
            }
            return point
        }
    }

    /// The moment plus a part of a second that depends on the payload's bytes.
    private func apart(_ moment: Timestamp) -> Timestamp {
        let part = Int64(Digest128(data).value % 1_000_000_000)
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(part)
        return overflow ? moment : .nanoseconds(sum)
    }

    private static func fields(_ histogram: Histogram<Duration>) -> Fields {
        var fields: Fields = ["count": .integer(Int64(histogram.count))]
        fields["sum"] = (histogram.sum(by: .end)?.milliseconds).map { .double($0) }
        fields["avg"] = (histogram.mean(by: .end)?.milliseconds).map { .double($0) }
        fields["avg_midpoint"] = (histogram.mean(by: .midpoint)?.milliseconds).map { .double($0) }
        fields["median"] = (histogram.median?.milliseconds).map { .double($0) }
        fields["p90"] = (histogram.quantile(0.9)?.milliseconds).map { .double($0) }
        return fields
    }
}
