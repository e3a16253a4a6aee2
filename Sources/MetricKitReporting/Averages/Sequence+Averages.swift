/// How the average over several payloads is taken.
public enum AverageOver: Sendable, Hashable {
    /// Every observation has the same weight: the histograms are merged first.
    case observations
    /// Every payload has the same weight, however few observations it has: the mean of the payloads' means.
    case payloads
}

extension Sequence<MetricPayload> {
    /// The payloads of one version of the app, without those that include an older one.
    public func of(applicationVersion: String) -> [MetricPayload] {
        filter { $0.appVersion == applicationVersion && !$0.includesMultipleAppVersions }
    }

    /// The average of a metric over the payloads of one version of the app; nil if nothing was observed.
    ///
    /// ```swift
    /// let payloads = [try MetricPayload(data)]
    /// let draw = payloads.average(for: \.applicationLaunch, applicationVersion: "1.2")
    /// let hang = payloads.average(for: \.applicationResponsiveness, applicationVersion: "1.2", by: .midpoint)
    /// print(draw ?? .zero, hang ?? .zero)
    /// ```
    ///
    /// - Parameters:
    ///   - metric: the section of a payload.
    ///   - applicationVersion: the version; payloads that include others do not count.
    ///   - rule: the value that represents a bucket.
    ///   - over: how the average over several payloads is taken.
    public func average<Metric: HistogrammedTimeMetric>(
        for metric: KeyPath<MetricPayload, Metric?>, applicationVersion: String, by rule: BucketValue = .end,
        over: AverageOver = .observations
    ) -> Duration? {
        of(applicationVersion: applicationVersion).compactMap { $0[keyPath: metric]?.histogram }.average(rule, over)
    }

    /// The average of a histogram over the payloads of one version of the app; nil if nothing was observed.
    ///
    /// - Parameters:
    ///   - histogram: the histogram, such as `\.applicationLaunch?.resumeTime`.
    ///   - applicationVersion: the version; payloads that include others do not count.
    ///   - rule: the value that represents a bucket.
    ///   - over: how the average over several payloads is taken.
    public func average(
        for histogram: KeyPath<MetricPayload, Histogram<Duration>?>, applicationVersion: String,
        by rule: BucketValue = .end, over: AverageOver = .observations
    ) -> Duration? {
        of(applicationVersion: applicationVersion).compactMap { $0[keyPath: histogram] }.average(rule, over)
    }

    /// The merged histogram of all payloads of one version of the app, for quantiles and other statistics; nil if no
    /// payload has one.
    ///
    /// - Parameters:
    ///   - histogram: the histogram, such as `\.applicationLaunch?.timeToFirstDraw`.
    ///   - applicationVersion: the version; payloads that include others do not count.
    public func histogram(
        for histogram: KeyPath<MetricPayload, Histogram<Duration>?>, applicationVersion: String
    ) -> Histogram<Duration>? {
        let all = of(applicationVersion: applicationVersion).compactMap { $0[keyPath: histogram] }
        return all.isEmpty ? nil : Histogram(merging: all)
    }
}

extension [Histogram<Duration>] {
    fileprivate func average(_ rule: BucketValue, _ over: AverageOver) -> Duration? {
        switch over {
        case .observations: return Histogram(merging: self).mean(by: rule)
        case .payloads:
            let means = compactMap { $0.mean(by: rule)?.histogramNumber }
            return means.isEmpty ? nil : Histogram<Duration>.bound(means.reduce(0, +) / Double(means.count))
        }
    }
}
