extension Sequence<MetricPayload> {
    /// The averages of one version of the app by name, in milliseconds, for a tracking service; empty if nothing was observed.
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
