#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How long a server takes for a request that does not wait for others there.
///
/// It is a mean, not a minimum: a response without a body, or one that is told to be unchanged, can be far faster than the
/// others, and one such response must not make all others look late.
struct ServiceTime {
    private(set) var mean: Double
    /// The variance of the mean, relative to it.
    private(set) var uncertainty: Double
    /// The shortest that the mean has been since the service has last changed.
    private(set) var shortest: Double

    /// Takes a first measurement as it is.
    init(_ window: AttemptWindow) {
        mean = window.mean
        uncertainty = window.uncertainty
        shortest = window.mean
    }

    /// The most by which one measurement changes the mean: it may be chance after all, or what other clients were doing then.
    private static let greatestStep = 1.25
    /// The least weight of a measurement, so that a service that changes slowly is followed.
    private static let leastWeight = 0.07

    /// Takes another measurement into account, by its weight.
    mutating func learn(_ window: AttemptWindow) {
        let (old, new) = (uncertainty, window.uncertainty)
        let difference = log(window.mean / mean)
        if difference * difference > 9 * (old + new) {
            // No accident: the service has changed.
            mean = min(max(window.mean, mean / Self.greatestStep), mean * Self.greatestStep)
            uncertainty = new
        } else {
            let weight = max(Self.leastWeight, old / max(.leastNormalMagnitude, old + new))
            mean *= exp(weight * difference)
            uncertainty = (1 - weight) * (1 - weight) * old + weight * weight * new
        }
        shortest = min(shortest, mean)
    }
}
