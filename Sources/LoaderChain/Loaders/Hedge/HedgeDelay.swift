/// How long the first attempt of one kind of request may take before a second one is sent.
///
/// The quantile is computed again after each sixteenth part of the samples, because it changes little with each.
struct HedgeDelay: Sendable {
    private var times = CensoredTimes()
    private var current: Duration?
    private var samplesToRefresh = 0

    /// The delay; nil while there are too few samples.
    mutating func delay(_ settings: Hedge.Settings) -> Duration? {
        guard times.completed >= settings.minimumNumberOfSamples, times.count > 0 else { return nil }
        if current == nil || samplesToRefresh <= 0 {
            current = times.quantile(settings.usableQuantile).map(settings.bounded)
            samplesToRefresh = times.count / 16
        }
        return current
    }

    /// How long half of the responses take at most.
    var usualTime: Duration? { times.quantile(0.5) }

    /// Adds the time of a first attempt.
    mutating func record(_ time: Duration, isCensored: Bool) {
        times.record(time, isCensored: isCensored)
        samplesToRefresh -= 1
    }
}
