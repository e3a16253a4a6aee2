/// Finds how many iterations fill a sample.
enum Calibration {
    /// A bound for an operation that the optimizer removed: it takes no time, so no sample of it is ever long enough.
    static let mostIterations = 1_000_000_000
    /// A short run predicts badly, so the count grows by at most this factor.
    private static let fastestGrowth = 10.0

    /// Runs `time`, which returns the nanoseconds that a number of iterations took, until a run predicts `target` well.
    static func iterations(filling target: Double, time: (Int) -> Double) -> Int {
        var iterations = 1
        while true {
            let elapsed = max(time(iterations), 1)
            let growth = min(target / elapsed, fastestGrowth)
            let predicted = max(1, min(Int((Double(iterations) * growth).rounded()), mostIterations))
            // Half a sample is long enough to predict a whole one.
            if elapsed >= target / 2 || predicted == mostIterations { return predicted }
            iterations = max(iterations + 1, predicted)
        }
    }
}
