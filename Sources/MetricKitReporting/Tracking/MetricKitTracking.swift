import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// A tracker for payloads.
///
/// ```swift
/// let version = "1.2"
/// let tracking: [MetricKitTracking] = [
///     .attributes(applicationVersion: version) { attributes in print("metrics_received", attributes) },
///     .points { point in print(point) },
///     .diagnostics { diagnostic in print(diagnostic.details.name) },
/// ]
/// print(tracking.count)
/// ```
public struct MetricKitTracking: Sendable {
    let take: @Sendable (_ reports: [MetricKitReport]) -> Void

    /// Receives every payload, including those that cannot be read.
    public static func reports(_ take: @escaping @Sendable (_ reports: [MetricKitReport]) -> Void) -> MetricKitTracking
    {
        MetricKitTracking(take: take)
    }

    /// Receives the averages of one version, for a tracking service; it is not called if there are none.
    ///
    /// - Parameters:
    ///   - applicationVersion: the version, usually that of the running app. Payloads that include other versions do not count.
    ///   - rule: the value that represents a bucket.
    ///   - track: a closure that receives `attributes(applicationVersion:by:)` of the payloads.
    public static func attributes(
        applicationVersion: String, by rule: BucketValue = .end,
        _ track: @escaping @Sendable (_ attributes: [String: Double]) -> Void
    ) -> MetricKitTracking {
        MetricKitTracking { reports in
            let attributes = reports.metrics.attributes(applicationVersion: applicationVersion, by: rule)
            if !attributes.isEmpty { track(attributes) }
        }
    }

    /// Receives the points of every payload, for a writer of points.
    ///
    /// - Parameters:
    ///   - secondsFromGMT: the UTC offset of the device, for payloads that do not name their time zone;
    ///     that of this device by default.
    ///   - write: a closure that receives each point of ``MetricPayload/points(secondsFromGMT:received:)``.
    public static func points(
        secondsFromGMT: @escaping @Sendable () -> Int? = { TimeZone.current.secondsFromGMT() },
        _ write: @escaping @Sendable (Point) -> Void
    ) -> MetricKitTracking {
        MetricKitTracking { reports in
            for payload in reports.metrics {
                for point in payload.points(secondsFromGMT: secondsFromGMT(), received: .now) { write(point) }
            }
        }
    }

    /// Receives every diagnostic.
    public static func diagnostics(_ take: @escaping @Sendable (Diagnostic) -> Void) -> MetricKitTracking {
        MetricKitTracking { reports in
            for case .diagnostics(let payload) in reports { payload.diagnostics.forEach(take) }
        }
    }
}

extension [MetricKitReport] {
    fileprivate var metrics: [MetricPayload] {
        compactMap { if case .metrics(let payload) = $0 { payload } else { nil } }
    }
}

extension Timestamp {
    fileprivate static var now: Timestamp {
        .milliseconds(Int64(Date().timeIntervalSince1970 * 1_000))
    }
}

extension Sequence<MetricPayload> {
    /// The averages of one version of the app by name, in milliseconds, for a tracking service; empty if no payload has any.
    ///
    /// | name | meaning |
    /// |---|---|
    /// | `first_draw_avg`, `first_draw_median`, `first_draw_p90` | time from the launch to the first draw |
    /// | `optimized_first_draw_avg`, … | the same for launches that the system had prewarmed |
    /// | `resume_avg`, … | time to resume from the background |
    /// | `extended_launch_avg`, … | launch time including the tasks that the app has declared as part of it |
    /// | `hang_time_avg`, … | duration of a hang |
    /// | `hang_time_per_hour` | duration of hangs per hour of use |
    /// | `hangs_per_hour` | number of hangs per hour of use |
    ///
    /// - Parameters:
    ///   - applicationVersion: the version; payloads that include others do not count.
    ///   - rule: the value that represents a bucket in averages.
    public func attributes(applicationVersion: String, by rule: BucketValue = .end) -> [String: Double] {
        let payloads = of(applicationVersion: applicationVersion)
        var attributes: [String: Double] = [:]
        for metric in TimeMetric.allCases {
            let histogram = Histogram(merging: payloads.compactMap { $0[keyPath: metric.histogram] })
            guard !histogram.isEmpty else { continue }
            attributes[metric.rawValue + "_avg"] = histogram.mean(by: rule)?.milliseconds
            attributes[metric.rawValue + "_median"] = histogram.median?.milliseconds
            attributes[metric.rawValue + "_p90"] = histogram.quantile(0.9)?.milliseconds
        }
        if let rate = payloads.hangRate(applicationVersion: applicationVersion) {
            attributes["hang_time_per_hour"] = rate.timePerHour(by: rule).milliseconds
            attributes["hangs_per_hour"] = rate.hangsPerHour
        }
        return attributes
    }
}

extension MetricPayload {
    /// Returns a point for each duration histogram of the payload that has values, for a dashboard.
    ///
    /// A histogram of hangs without values gives a point too, if the foreground time is known. A payload that covers several
    /// versions gives none.
    ///
    /// The measurement is `metrickit`. Its tags are `metric`, with the names of `attributes(applicationVersion:by:)`, and, if
    /// known, `app_version`, `os_version` and `device`. Its fields are in milliseconds:
    ///
    /// | field | meaning |
    /// |---|---|
    /// | `count` | the number of values, an integer |
    /// | `sum` | their sum by the ends of their buckets; divide sums by counts for the mean over many devices |
    /// | `avg`, `avg_midpoint` | their mean by the ends and by the midpoints |
    /// | `median`, `p90` | the quantiles 0.5 and 0.9 |
    /// | `foreground` | the foreground time in the same period; only with `hang_time` |
    ///
    /// The timestamp of a point is the end of the payload plus a fraction of a second that is derived from the payload's bytes.
    /// The payloads of many devices end at the same time, and a server would treat their points as one; but a payload that is
    /// sent again must give the same point. So write points with nanoseconds, and give the same `secondsFromGMT` or `received`
    /// again. Without an end, or without its time zone, and without either of them, points have no timestamp.
    ///
    /// - Parameters:
    ///   - secondsFromGMT: the UTC offset of the device, for payloads that do not name their time zone.
    ///   - received: the time at which the payload was received, for payloads whose end, or its time zone, is unknown.
    public func points(secondsFromGMT: Int? = nil, received: Timestamp? = nil) -> [Point] {
        guard !includesMultipleAppVersions else { return [] }
        let end = timeRange.end.flatMap { end in
            end.instant ?? secondsFromGMT.map { end.instant(secondsFromGMT: $0) }
        }
        let time = (end ?? received).map { apart($0) }
        return TimeMetric.allCases.compactMap { metric in
            let foreground = metric == .hangTime ? applicationTime?.foreground : nil
            // A day of use without a hang counts for the hang rate.
            guard let histogram = self[keyPath: metric.histogram], !histogram.isEmpty || foreground != nil else {
                return nil
            }
            var point = Point(
                "metrickit", tags: ["metric": metric.rawValue], fields: Self.fields(histogram), timestamp: time)
            point.tags["app_version"] = appVersion
            point.tags["os_version"] = metaData?.osVersion
            point.tags["device"] = metaData?.deviceType
            point.fields["foreground"] = foreground.map { .double($0.milliseconds) }
            return point
        }
    }

    /// The moment plus a fraction of a second that is derived from the payload's bytes.
    private func apart(_ moment: Timestamp) -> Timestamp {
        let part = Int64(CRC32C.value(of: data)) % 1_000_000_000
        return .nanoseconds(moment.nanoseconds.addingClamped(part))
    }

    private static func fields(_ histogram: Histogram<Duration>) -> Fields {
        var fields: Fields = ["count": .integer(Int64(histogram.count))]
        fields["sum"] = .double(histogram.sum(by: .end)?.milliseconds ?? 0)
        fields["avg"] = (histogram.mean(by: .end)?.milliseconds).map { .double($0) }
        fields["avg_midpoint"] = (histogram.mean(by: .midpoint)?.milliseconds).map { .double($0) }
        fields["median"] = (histogram.median?.milliseconds).map { .double($0) }
        fields["p90"] = (histogram.quantile(0.9)?.milliseconds).map { .double($0) }
        return fields
    }
}

/// The durations that payloads have histograms of, by the names used for tracking.
private enum TimeMetric: String, CaseIterable {
    case firstDraw = "first_draw"
    case optimizedFirstDraw = "optimized_first_draw"
    case resume
    case extendedLaunch = "extended_launch"
    case hangTime = "hang_time"

    var histogram: KeyPath<MetricPayload, Histogram<Duration>?> {
        switch self {
        case .firstDraw: \.applicationLaunch?.timeToFirstDraw
        case .optimizedFirstDraw: \.applicationLaunch?.optimizedTimeToFirstDraw
        case .resume: \.applicationLaunch?.resumeTime
        case .extendedLaunch: \.applicationLaunch?.extendedLaunch
        case .hangTime: \.applicationResponsiveness?.hangTime
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Double { Double(attoseconds) / 1e15 }
}
