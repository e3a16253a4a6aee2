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

    /// Adds the times of another window.
    mutating func add(_ other: AttemptWindow) {
        count += other.count
        sum += other.sum
        squares += other.squares
        givenUp += other.givenUp
        mostInFlight = max(mostInFlight, other.mostInFlight)
    }

    /// How many of all were given up.
    var shareGivenUp: Double { count > 0 ? givenUp / count : 0 }

    /// The mean; asked for only when there are times.
    var mean: Double { sum / count }

    /// The variance of the mean, relative to the mean: how much chance there is in it.
    var uncertainty: Double {
        guard count > 1, sum > 0 else { return 1 }
        return max(0, squares / count - mean * mean) / count / (mean * mean)
    }
}
