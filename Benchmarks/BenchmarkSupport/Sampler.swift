/// A benchmark that is set up and ready to be sampled.
///
/// Its cost is a weighted sum over one or two parts: an operation is one part that counts fully, a slope is the large
/// build minus the small one, over the units between them.
struct Sampler {
    private struct Part {
        let weight: Double
        let run: (Int) -> Void
        let iterations: Int
        /// How many iterations to count.
        let counted: Int
    }

    /// So many iterations are counted at most; more would not make an exact count more exact.
    private static let mostCounted = 10_000
    /// So many at least, unless they take longer than `longestCount`.
    ///
    /// A machine that was busy for a moment makes an operation look slow, and a handful of iterations is not enough for
    /// sixteen threads.
    private static let fewestCounted = 100.0
    private static let longestCount = Duration.milliseconds(500)
    /// Counting is repeated because other threads, such as a pool that grows, now and then allocate in between.
    private static let countings = 3

    private let parts: [Part]
    private let now: () -> Double

    /// Sets the benchmark up, and finds how many iterations fill a sample.
    init(_ benchmark: Benchmark, sampleLength: Duration, now: @escaping () -> Double) {
        func part(weight: Double, _ setup: Benchmark.Setup) -> Part {
            let run = setup()
            var cost = Double.infinity
            let iterations = Calibration.iterations(filling: sampleLength.nanoseconds) { count in
                let start = now()
                run(count)
                let elapsed = now() - start
                cost = min(cost, elapsed / Double(count))
                return elapsed
            }
            let fewest = min(Self.fewestCounted, Self.longestCount.nanoseconds / max(cost, 1))
            let counted = min(max(iterations, Int(fewest)), Self.mostCounted)
            return Part(weight: weight, run: run, iterations: iterations, counted: counted)
        }
        self.now = now
        switch benchmark.work {
        case .operation(let setup):
            parts = [part(weight: 1, setup)]
        case .slope(let small, let large):
            let weight = 1 / Double(large.units - small.units)
            parts = [part(weight: -weight, small.setup), part(weight: weight, large.setup)]
        }
    }

    /// Takes one sample: nanoseconds per operation.
    func sample() -> Double {
        parts.reduce(0) { sum, part in
            let start = now()
            part.run(part.iterations)
            return sum + part.weight * (now() - start) / Double(part.iterations)
        }
    }

    /// Counts the allocations per operation, to three decimals.
    ///
    /// Twice the iterations minus the iterations once: what a run allocates only once, such as its threads, falls out.
    func allocations(_ meter: AllocationMeter) -> Double {
        let sum = parts.reduce(0) { sum, part in
            let iterations = part.counted
            let counts = (0..<Self.countings).map { _ in
                let once = meter.count { part.run(iterations) }
                let twice = meter.count { part.run(2 * iterations) }
                return Double(twice - once) / Double(iterations)
            }
            return sum + part.weight * Statistics.median(counts)
        }
        return max(0, Statistics.rounded(sum, places: 3))
    }
}
