/// How several payloads become one average.
public enum AverageOver: Sendable, Hashable {
    /// Every observation counts the same: the histograms are merged first.
    case observations
    /// Every payload counts the same, however little was observed in it: the mean of the payloads' means.
    case payloads
}

extension Sequence<MetricPayload> {
    /// The payloads of one version of the app, without those that tell of an older one as well.
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
    ///   - applicationVersion: the version; payloads that tell of others do not count.
    ///   - rule: which value stands for those of a bucket.
    ///   - over: how several payloads become one average.
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
    ///   - applicationVersion: the version; payloads that tell of others do not count.
    ///   - rule: which value stands for those of a bucket.
    ///   - over: how several payloads become one average.
    public func average(
        for histogram: KeyPath<MetricPayload, Histogram<Duration>?>, applicationVersion: String,
        by rule: BucketValue = .end, over: AverageOver = .observations
    ) -> Duration? {
        of(applicationVersion: applicationVersion).compactMap { $0[keyPath: histogram] }.average(rule, over)
    }

    /// The histograms of all payloads of one version of the app as one, for everything else that can be asked of it; nil if no
    /// payload has one.
    ///
    /// - Parameters:
    ///   - histogram: the histogram, such as `\.applicationLaunch?.timeToFirstDraw`.
    ///   - applicationVersion: the version; payloads that tell of others do not count.
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
