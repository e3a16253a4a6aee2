/// How long the app took to start and to come back.
public struct LaunchMetrics: Sendable, Hashable, HistogrammedTimeMetric {
    /// From the start of the process until something was drawn.
    public var timeToFirstDraw: Histogram<Duration>?
    /// The same for launches that the system had begun before the app was asked for.
    public var optimizedTimeToFirstDraw: Histogram<Duration>?
    /// How long it took to come back from the background.
    public var resumeTime: Histogram<Duration>?
    /// Launches with the tasks that the app has declared to be part of them.
    public var extendedLaunch: Histogram<Duration>?

    /// Knows nothing yet.
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

/// How long the app kept its users waiting.
public struct ResponsivenessMetrics: Sendable, Hashable, HistogrammedTimeMetric {
    /// The times in which the app did not answer.
    public var hangTime: Histogram<Duration>?

    /// Knows nothing yet.
    public init() {}

    /// The hang time.
    public var histogram: Histogram<Duration>? { hangTime }

    init(_ reader: inout SectionReader) {
        hangTime = reader.histogram("histogrammedAppHangTime", "histogrammedApplicationHangTime", "hangTime")
    }
}
