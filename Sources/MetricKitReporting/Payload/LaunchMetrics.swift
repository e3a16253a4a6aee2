/// How long the app took to launch and to resume.
public struct LaunchMetrics: Sendable, Hashable, HistogrammedTimeMetric {
    /// The time from the start of the process to the first draw.
    public var timeToFirstDraw: Histogram<Duration>?
    /// The time to first draw for launches that the system had prewarmed.
    public var optimizedTimeToFirstDraw: Histogram<Duration>?
    /// The time to resume from the background.
    public var resumeTime: Histogram<Duration>?
    /// The launch time including the tasks that the app has declared as part of it.
    public var extendedLaunch: Histogram<Duration>?

    /// Makes an empty section.
    public init() {}

    /// The time to first draw.
    public var histogram: Histogram<Duration>? { timeToFirstDraw }

    init(_ reader: inout SectionReader) {
        timeToFirstDraw = reader.histogram(
            "histogrammedTimeToFirstDrawKey", "histogrammedTimeToFirstDraw", "timeToFirstDraw")
        optimizedTimeToFirstDraw = reader.histogram(
            "histogrammedOptimizedTimeToFirstDrawKey", "histogrammedOptimizedTimeToFirstDraw",
            "optimizedTimeToFirstDraw")
        resumeTime = reader.histogram(
            "histogrammedResumeTime", "histogrammedApplicationResumeTime", "applicationResumeTime")
        extendedLaunch = reader.histogram("histogrammedExtendedLaunch", "extendedLaunch")
    }
}

/// How responsive the app was.
public struct ResponsivenessMetrics: Sendable, Hashable, HistogrammedTimeMetric {
    /// The times in which the app did not respond.
    public var hangTime: Histogram<Duration>?

    /// Makes an empty section.
    public init() {}

    /// The hang time.
    public var histogram: Histogram<Duration>? { hangTime }

    init(_ reader: inout SectionReader) {
        hangTime = reader.histogram("histogrammedAppHangTime", "histogrammedApplicationHangTime", "hangTime")
    }
}
