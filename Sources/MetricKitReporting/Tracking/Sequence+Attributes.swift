extension Sequence<MetricPayload> {
    /// The averages of one version of the app under names for a tracking service, in milliseconds; empty if nothing was observed.
    ///
    /// | name | what |
    /// |---|---|
    /// | `first_draw_avg`, `first_draw_median`, `first_draw_p90` | from the start until something was drawn |
    /// | `optimized_first_draw_avg`, … | the same for launches that the system had begun before |
    /// | `resume_avg`, … | how long it took to come back |
    /// | `extended_launch_avg`, … | launches with the tasks that the app counts to them |
    /// | `hang_time_avg`, … | how long the app did not answer |
    /// | `hang_time_per_hour` | how long the app did not answer in an hour of use |
    /// | `hangs_per_hour` | how often that was, as a number |
    ///
    /// - Parameters:
    ///   - applicationVersion: the version; payloads that tell of others do not count.
    ///   - rule: which value stands for those of a bucket in averages.
    public func attributes(applicationVersion: String, by rule: BucketValue = .end) -> [String: Double] {
        let payloads = of(applicationVersion: applicationVersion)
        var attributes: [String: Double] = [:]
        for metric in TimeMetric.allCases {
            let histogram = Histogram.merging(payloads.compactMap { $0[keyPath: metric.histogram] })
            guard !histogram.isEmpty else { continue }
            attributes[metric.rawValue + "_avg"] = histogram.mean(by: rule)?.milliseconds
            attributes[metric.rawValue + "_median"] = histogram.median?.milliseconds
            attributes[metric.rawValue + "_p90"] = histogram.percentile(90)?.milliseconds
        }
        if let rate = payloads.hangRate(applicationVersion: applicationVersion) {
            attributes["hang_time_per_hour"] = rate.timePerHour(by: rule).milliseconds
            attributes["hangs_per_hour"] = rate.hangsPerHour
        }
        return attributes
    }
}

/// The times that payloads have histograms of, by the names that they are tracked under.
enum TimeMetric: String, CaseIterable {
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
    /// The duration in milliseconds.
    var milliseconds: Double { Double(attoseconds) / 1e15 }
}
