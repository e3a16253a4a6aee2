/// A benchmark that is set up and ready to be sampled.
///
/// Its cost is a weighted sum of one or two parts: an operation is one part with weight one, and a slope is the large
/// build minus the small one, divided by the units between them.
struct Sampler {
    private struct Part {
        let weight: Double
        let run: (Int) -> Void
        let iterations: Int
        /// The number of iterations whose allocations are counted.
        let counted: Int
    }

    /// The most iterations to count; more would not make an exact count more exact.
    private static let mostCounted = 10_000
    /// A run that takes so long has enough iterations to count.
    ///
    /// A machine that was busy for a moment makes an operation look slow, and a few iterations are not enough for sixteen
    /// threads, nor for what is allocated once in some hundred operations. The moment would have to be as long as this.
    private static let longestCount = Duration.milliseconds(50)
    /// Counting is repeated, because other threads, such as those of a growing pool, sometimes allocate meanwhile.
    private static let countings = 3

    private let parts: [Part]
    private let now: () -> Double

    /// Sets the benchmark up, and finds how many iterations fill a sample.
    init(_ benchmark: Benchmark, sampleLength: Duration, now: @escaping () -> Double) {
        func part(weight: Double, _ setup: Benchmark.Setup) -> Part {
            let run = setup()
            func time(_ count: Int) -> Double {
                let start = now()
                run(count)
                return now() - start
            }
            let iterations = Calibration.iterations(filling: sampleLength.nanoseconds, time: time)
            var counted = min(iterations, Self.mostCounted)
            while counted < Self.mostCounted, time(counted) < Self.longestCount.nanoseconds {
                counted = min(2 * counted, Self.mostCounted)
            }
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
    /// It subtracts the count for n iterations from that for 2n, so that one-time allocations, such as threads, cancel out.
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
