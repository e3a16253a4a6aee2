/// A section of a payload with one main histogram.
public protocol HistogrammedTimeMetric: Sendable {
    /// The main histogram.
    var histogram: Histogram<Duration>? { get }
}

extension HistogrammedTimeMetric {
    /// The mean of the histogram; nil if nothing was observed.
    ///
    /// - Parameter rule: the value that represents a bucket.
    public func average(by rule: BucketValue = .end) -> Duration? { histogram?.mean(by: rule) }
}

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

/// How long the app ran.
public struct ApplicationTimeMetrics: Sendable, Hashable {
    /// In the foreground.
    public var foreground: Duration?
    /// In the background.
    public var background: Duration?
    /// In the background, playing audio.
    public var backgroundAudio: Duration?
    /// In the background, using location services.
    public var backgroundLocation: Duration?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        foreground = reader.time("cumulativeForegroundTime")
        background = reader.time("cumulativeBackgroundTime")
        backgroundAudio = reader.time("cumulativeBackgroundAudioTime")
        backgroundLocation = reader.time("cumulativeBackgroundLocationTime")
    }
}

/// How long the app used location services, by accuracy.
public struct LocationMetrics: Sendable, Hashable {
    /// The best accuracy for navigation, using other sensors too.
    public var bestForNavigation: Duration?
    /// The best accuracy.
    public var best: Duration?
    /// Ten metres.
    public var nearestTenMeters: Duration?
    /// A hundred metres.
    public var hundredMeters: Duration?
    /// A kilometre.
    public var kilometer: Duration?
    /// Three kilometres.
    public var threeKilometers: Duration?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        bestForNavigation = reader.time("cumulativeBestAccuracyForNavigationTime")
        best = reader.time("cumulativeBestAccuracyTime")
        nearestTenMeters = reader.time("cumulativeNearestTenMetersAccuracyTime")
        hundredMeters = reader.time("cumulativeHundredMetersAccuracyTime")
        kilometer = reader.time("cumulativeKilometerAccuracyTime")
        threeKilometers = reader.time("cumulativeThreeKilometersAccuracyTime")
    }
}

/// How smooth the animations are.
public struct AnimationMetrics: Sendable, Hashable {
    /// The hitch time while scrolling, in milliseconds per second.
    public var scrollHitchMillisecondsPerSecond: Double?
    /// The hitch time of all animations, in milliseconds per second.
    public var hitchMillisecondsPerSecond: Double?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        scrollHitchMillisecondsPerSecond = reader.number(.hitchRatio, "scrollHitchTimeRatio")
        hitchMillisecondsPerSecond = reader.number(.hitchRatio, "hitchTimeRatio")
    }
}

/// What the app measured with a signpost.
public struct SignpostMetrics: Sendable, Hashable {
    /// The category of the signpost.
    public var category: String?
    /// The name of the signpost.
    public var name: String?
    /// How often it was emitted.
    public var count: Int?
    /// The durations of its intervals.
    public var durations: Histogram<Duration>?
    /// The CPU time in its intervals.
    public var cpuTime: Duration?
    /// The average memory in its intervals, in bytes.
    public var averageMemoryBytes: Double?
    /// The logical writes in its intervals, in bytes.
    public var logicalWriteBytes: Double?
    /// The hitch time in its intervals, in milliseconds per second.
    public var hitchMillisecondsPerSecond: Double?

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        category = reader.text("signpostCategory")
        name = reader.text("signpostName")
        count = reader.count("totalSignpostCount")
        _ = reader.section("signpostIntervalData") { reader in
            durations = reader.histogram("histogrammedSignpostDurations", "histogrammedSignpostDuration")
            cpuTime = reader.time("signpostCumulativeCPUTime", "cumulativeCPUTime")
            averageMemoryBytes = reader.number(.bytes, "signpostAverageMemory", "averageMemory")
            logicalWriteBytes = reader.number(.bytes, "signpostCumulativeLogicalWrites", "cumulativeLogicalWrites")
            hitchMillisecondsPerSecond = reader.number(
                .hitchRatio, "signpostCumulativeHitchTimeRatio", "cumulativeHitchTimeRatio")
        }
    }
}

/// How often the app exited, by reason.
public struct ExitMetrics: Sendable, Hashable {
    /// A reason for an exit.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// A normal exit.
        case normal = "cumulativeNormalAppExitCount"
        /// A crash that no other reason covers.
        case abnormal = "cumulativeAbnormalExitCount"
        /// The watchdog ended the app because it did not respond.
        case watchdog = "cumulativeAppWatchdogExitCount"
        /// An invalid memory access.
        case badAccess = "cumulativeBadAccessExitCount"
        /// An illegal instruction, as after a failed precondition.
        case illegalInstruction = "cumulativeIllegalInstructionExitCount"
        /// The app exceeded its memory limit.
        case memoryLimit = "cumulativeMemoryResourceLimitExitCount"
        /// The system needed the memory.
        case memoryPressure = "cumulativeMemoryPressureExitCount"
        /// The app exceeded its CPU limit.
        case cpuLimit = "cumulativeCPUResourceLimitExitCount"
        /// The app was suspended while it held a file lock.
        case lockedFile = "cumulativeSuspendedWithLockedFileExitCount"
        /// A background task did not end in time.
        case backgroundTaskTimeout = "cumulativeBackgroundTaskAssertionTimeoutExitCount"
        /// The app did not complete its background URL session in time.
        case backgroundURLSessionCompletionTimeout = "cumulativeBackgroundURLSessionCompletionTimeoutExitCount"
        /// A background fetch did not end in time.
        case backgroundFetchCompletionTimeout = "cumulativeBackgroundFetchCompletionTimeoutExitCount"
    }

    /// Exits in the foreground.
    ///
    /// A reason that is missing did not occur or is not counted by the system.
    public var foreground: [Reason: Int] = [:]
    /// Exits in the background.
    ///
    /// A reason that is missing did not occur or is not counted by the system.
    public var background: [Reason: Int] = [:]

    /// Makes an empty section.
    public init() {}

    init(_ reader: inout SectionReader) {
        foreground = reader.section("foregroundExitData") { Self.counts(&$0) } ?? [:]
        background = reader.section("backgroundExitData") { Self.counts(&$0) } ?? [:]
    }

    private static func counts(_ reader: inout SectionReader) -> [Reason: Int] {
        var counts: [Reason: Int] = [:]
        for reason in Reason.allCases { counts[reason] = reader.count(reason.rawValue) }
        return counts
    }
}
