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
