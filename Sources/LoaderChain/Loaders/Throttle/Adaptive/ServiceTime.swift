import LoaderChainPlatformC

/// How long a server takes for a request that does not wait for others there.
///
/// The time is a mean, not a minimum: a response without a body, or a 304, can be far faster than the others, and one such
/// response must not make all others look late.
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

/// The times of the attempts that have ended since the limit was last judged.
struct AttemptWindow {
    private(set) var count = 0.0
    private(set) var sum = 0.0
    private var squares = 0.0
    /// How many of them were given up, and would have taken longer.
    private(set) var givenUp = 0.0
    /// The most attempts that were under way when one of them ended.
    var mostInFlight = 0

    mutating func add(_ seconds: Double, isGivenUp: Bool = false) {
        count += 1
        if isGivenUp { givenUp += 1 }
        sum += seconds
        squares += seconds * seconds
    }

    mutating func add(_ other: AttemptWindow) {
        count += other.count
        sum += other.sum
        squares += other.squares
        givenUp += other.givenUp
        mostInFlight = max(mostInFlight, other.mostInFlight)
    }

    var shareGivenUp: Double { count > 0 ? givenUp / count : 0 }

    /// The mean; asked for only when there are times.
    var mean: Double { sum / count }

    /// The variance of the mean, relative to the mean: how much chance there is in it.
    var uncertainty: Double {
        guard count > 1, sum > 0 else { return 1 }
        return max(0, squares / count - mean * mean) / count / (mean * mean)
    }
}
