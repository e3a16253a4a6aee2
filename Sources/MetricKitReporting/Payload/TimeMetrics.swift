/// How long the app ran.
public struct ApplicationTimeMetrics: Sendable, Hashable {
    /// In front of the user.
    public var foreground: Duration?
    /// In the background.
    public var background: Duration?
    /// In the background, playing.
    public var backgroundAudio: Duration?
    /// In the background, following the device.
    public var backgroundLocation: Duration?

    /// Knows nothing yet.
    public init() {}

    init(_ reader: inout SectionReader) {
        foreground = reader.time("cumulativeForegroundTime")
        background = reader.time("cumulativeBackgroundTime")
        backgroundAudio = reader.time("cumulativeBackgroundAudioTime")
        backgroundLocation = reader.time("cumulativeBackgroundLocationTime")
    }
}

/// How long the app asked where the device is, by accuracy.
public struct LocationMetrics: Sendable, Hashable {
    /// The best accuracy there is, with other sensors, as for navigation.
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

    /// Knows nothing yet.
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

/// How well the app moves.
public struct AnimationMetrics: Sendable, Hashable {
    /// How many milliseconds of hitches there were for each second of scrolling.
    public var scrollHitchMillisecondsPerSecond: Double?
    /// How many milliseconds of hitches there were for each second of any animation.
    public var hitchMillisecondsPerSecond: Double?

    /// Knows nothing yet.
    public init() {}

    init(_ reader: inout SectionReader) {
        scrollHitchMillisecondsPerSecond = reader.number(.hitchRatio, "scrollHitchTimeRatio")
        hitchMillisecondsPerSecond = reader.number(.hitchRatio, "hitchTimeRatio")
    }
}
