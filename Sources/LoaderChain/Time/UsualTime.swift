/// How long a kind of work usually takes, learned from how long it took lately.
///
/// The estimate is the smoothed mean and twice the smoothed deviation from it, as TCP estimates how long to wait for an
/// answer (RFC 6298). It takes constant memory, follows a change within some ten samples, and hardly any work of usual
/// duration takes longer.
package struct UsualTime {
    /// In nanoseconds.
    private var mean = 0.0
    private var deviation = 0.0
    private var samples = 0

    /// The first samples may include the making of connections.
    static let fewestSamples = 8
    /// Some three years, which leaves room to calculate.
    private static let longest = 1e17
    private static let weightOfMean = 1.0 / 8
    private static let weightOfDeviation = 1.0 / 4

    package init() {}

    /// The time that most of the work does not exceed; nil while too little is known.
    package var estimate: Duration? {
        samples < Self.fewestSamples ? nil : .nanoseconds(Int64(mean + 2 * deviation))
    }

    /// Learns how long a piece of work took.
    package mutating func learn(_ time: Duration) {
        let time = min(max(0, Double(time.saturatedNanoseconds)), Self.longest)
        if samples == 0 {
            (mean, deviation) = (time, time / 2)
        } else {
            deviation += (abs(time - mean) - deviation) * Self.weightOfDeviation
            mean += (time - mean) * Self.weightOfMean
        }
        samples = min(samples + 1, Self.fewestSamples)
    }

    /// Learns that a piece of work was ended before it was done.
    ///
    /// That says nothing if it might have been done in time. Otherwise it would have taken even longer.
    ///
    /// - Returns: whether it said something.
    @discardableResult
    package mutating func learn(unfinishedAfter time: Duration) -> Bool {
        // Before there is an estimate, the mean of what is known stands for it.
        if time < estimate ?? .nanoseconds(Int64(mean)) { return false }
        learn(time)
        return true
    }
}
