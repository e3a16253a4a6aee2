/// The durations that payloads have histograms of, by the names used for tracking.
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
    var milliseconds: Double { Double(attoseconds) / 1e15 }
}
