/// How long the first attempt of one kind of request may take before a second one is sent.
///
/// The quantile is computed again after each sixteenth part of the samples, because it changes little with each.
struct HedgeDelay: Sendable {
    private var times = CensoredTimes()
    private var current: Duration?
    private var samplesToRefresh = 0
    /// The share of the recent requests that were slow, which the last few dozen of them determine.
    private var slowShare = 0.0

    /// The delay; nil while there are too few samples.
    mutating func delay(_ settings: Hedge.Settings) -> Duration? {
        guard times.completed >= settings.minimumNumberOfSamples, times.count > 0 else { return nil }
        if current == nil || samplesToRefresh <= 0 {
            current = times.quantile(settings.usableQuantile).map(settings.bounded)
            samplesToRefresh = times.count / 16
        }
        return current
    }

    /// Notes that a first attempt has taken as long as the delay; returns whether far more do so than the quantile says.
    ///
    /// Then the server is slow as a whole: a second attempt would be slow too, and make it slower.
    mutating func noteSlow(_ settings: Hedge.Settings) -> Bool {
        slowShare += (1 - slowShare) * Self.weight
        let tooMuch = 4.0
        return slowShare > tooMuch * (1 - settings.usableQuantile)
    }

    private static var weight: Double { 1.0 / 32 }

    /// How long half of the responses take at most.
    var usualTime: Duration? { times.quantile(0.5) }

    /// Adds the time of a first attempt.
    mutating func record(_ time: Duration, isCensored: Bool) {
        times.record(time, isCensored: isCensored)
        samplesToRefresh -= 1
        slowShare -= slowShare * Self.weight
    }
}
