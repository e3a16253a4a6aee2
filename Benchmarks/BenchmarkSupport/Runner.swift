/// How long to measure.
struct Plan: Equatable {
    var samples: Int
    var sampleLength: Duration

    static let full = Plan(samples: 21, sampleLength: .milliseconds(20))
    static let quick = Plan(samples: 5, sampleLength: .milliseconds(5))
}

/// Measures benchmarks one after the other.
struct Runner {
    let plan: Plan
    let meter: AllocationMeter?
    /// Nanoseconds since a fixed moment.
    let now: () -> Double

    /// Measures one benchmark, in turn with its peer if it has one.
    func measure(
        _ benchmark: Benchmark, against peer: Benchmark? = nil, progress: (_ samplesTaken: Int) -> Void = { _ in }
    ) -> (ours: Measurement, peer: Measurement?) {
        progress(0)
        let samplers = ([benchmark] + (peer.map { [$0] } ?? [])).map {
            Sampler($0, sampleLength: plan.sampleLength, now: now)
        }
        // Calibration has warmed up most of it; one whole sample of each does the rest.
        for sampler in samplers { _ = sampler.sample() }

        var samples = Array(repeating: [Double](), count: samplers.count)
        for round in 1...plan.samples {
            for index in samplers.indices { samples[index].append(samplers[index].sample()) }
            progress(round)
        }
        let measurements = zip(samplers, samples).map { sampler, samples in
            Measurement(samples: samples, allocations: meter.map(sampler.allocations))
        }
        return (measurements[0], measurements.count > 1 ? measurements[1] : nil)
    }
}
