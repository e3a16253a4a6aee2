/// The weights in an average over several payloads.
public enum AverageOver: Sendable, Hashable {
    /// Every observation has the same weight: the histograms are merged first.
    case observations
    /// Every payload has the same weight, regardless of its number of observations: the mean of the payloads' means.
    case payloads
}

extension Sequence<MetricPayload> {
    /// Returns the payloads of one version of the app, without those that include an older version.
    public func of(applicationVersion: String) -> [MetricPayload] {
        filter { $0.appVersion == applicationVersion && !$0.includesMultipleAppVersions }
    }

    /// Returns the average of a metric over the payloads of one version of the app; nil without observations.
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

    /// Returns the average of a histogram over the payloads of one version of the app; nil without observations.
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

    /// Returns the merged histogram of all payloads of one version of the app, for quantiles and other statistics; nil if no
    /// payload has the histogram.
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

/// The hangs of an app per hour of use.
public struct HangRate: Sendable, Hashable {
    /// The histogram of hangs.
    public let hangs: Histogram<Duration>
    /// The foreground time in the same period.
    public let foreground: Duration

    /// Creates a rate; nil if the app was not in the foreground.
    ///
    /// - Parameters:
    ///   - hangs: the histogram of hangs.
    ///   - foreground: the foreground time.
    public init?(hangs: Histogram<Duration>, foreground: Duration) {
        guard foreground > .zero else { return nil }
        self.hangs = hangs
        self.foreground = foreground
    }

    private var hours: Double { foreground.histogramNumber / 3600 }

    /// The number of hangs per hour of use.
    public var hangsPerHour: Double { Double(hangs.count) / hours }

    /// The duration of hangs per hour of use.
    ///
    /// - Parameter rule: the value that represents a bucket.
    public func timePerHour(by rule: BucketValue = .end) -> Duration {
        let sum = hangs.sum(by: rule)?.histogramNumber ?? 0
        return Histogram<Duration>.bound(sum / hours) ?? .zero
    }
}

extension MetricPayload {
    /// The hangs of the app per hour of use.
    ///
    /// Nil if the payload has no foreground time or no histogram of hangs. Without a histogram, a payload does not say whether none
    /// occurred or the system did not count them.
    public var hangRate: HangRate? {
        guard let hangs = applicationResponsiveness?.hangTime, let foreground = applicationTime?.foreground else {
            return nil
        }
        return HangRate(hangs: hangs, foreground: foreground)
    }
}

extension Sequence<MetricPayload> {
    /// Returns the hangs of one version of the app per hour of use, over all payloads that have both figures.
    ///
    /// - Parameter applicationVersion: the version; payloads that include others do not count.
    public func hangRate(applicationVersion: String) -> HangRate? {
        var hangs: [Histogram<Duration>] = []
        var foreground = Duration.zero
        for payload in of(applicationVersion: applicationVersion) {
            guard let time = payload.applicationTime?.foreground, let hang = payload.applicationResponsiveness?.hangTime
            else { continue }
            hangs.append(hang)
            foreground += time
        }
        return hangs.isEmpty ? nil : HangRate(hangs: Histogram(merging: hangs), foreground: foreground)
    }
}
