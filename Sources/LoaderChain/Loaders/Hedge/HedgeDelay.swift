/// How long the first attempt of one kind of request may take before a second one is sent.
///
/// The quantile is computed again after each sixteenth part of the samples, because it changes little with each.
struct HedgeDelay: Sendable {
    private var times = CensoredTimes()
    private var current: Duration?
    private var samplesToRefresh = 0
    /// The time from which on a response is slow, where the delay is too short to tell.
    private var slowTime: Duration?
    /// The share of the recent requests that were slow, which the last few dozen of them determine.
    private var slowShare = 0.0

    /// The delay; nil while there are too few samples.
    mutating func delay(_ settings: Hedge.Settings) -> Duration? {
        guard times.completed >= settings.minimumNumberOfSamples, times.count > 0 else { return nil }
        if current == nil || samplesToRefresh <= 0 {
            current = times.quantile(settings.usableQuantile).map(settings.bounded)
            slowTime = settings.usableQuantile < Self.lowest ? usualTime.map(settings.bounded) : nil
            samplesToRefresh = times.count / 16
        }
        return current
    }

    /// Notes that a first attempt has taken as long as the delay; returns whether far more are slow than should be.
    ///
    /// Then the server is slow as a whole: a second attempt would be slow too, and make it slower.
    mutating func noteSlow(_ settings: Hedge.Settings) -> Bool {
        if settings.usableQuantile >= Self.lowest { count(isSlow: true) }
        return slowShare > Self.tooLargeShare(where: settings.usableQuantile)
    }

    /// The lowest quantile whose time tells slow requests from others; with a lower one, the median does.
    private static var lowest: Double { 0.5 }
    private static var weight: Double { 1.0 / 32 }

    /// The share of slow requests that is too large where a quantile tells them from the others.
    ///
    /// It is larger than the expected share, and below 1, for each quantile: its odds are six times those that are
    /// expected. Instead of 5 % of the requests it is 24 %, and instead of half of them 86 %.
    private static func tooLargeShare(where quantile: Double) -> Double {
        // With a quantile close to 1, some requests in a row are needed all the same.
        let expected = max(1 - max(quantile, lowest), 0.02)
        let odds = 6 * expected / (1 - expected)
        return odds / (1 + odds)
    }

    private mutating func count(isSlow: Bool) {
        slowShare += ((isSlow ? 1 : 0) - slowShare) * Self.weight
    }

    /// How long half of the responses take at most.
    var usualTime: Duration? { times.quantile(0.5) }

    /// Adds the time of a first attempt.
    ///
    /// - Parameter wasSlow: whether it has been noted as slow, or is about to be.
    mutating func record(_ time: Duration, isCensored: Bool, wasSlow: Bool) {
        times.record(time, isCensored: isCensored)
        samplesToRefresh -= 1
        if let slowTime {
            // Of a shorter one that is censored, nothing is known.
            if time > slowTime || !isCensored { count(isSlow: time > slowTime) }
        } else if !wasSlow {
            count(isSlow: false)
        }
    }
}
