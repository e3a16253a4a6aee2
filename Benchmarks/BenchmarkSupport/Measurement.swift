struct Measurement {
    /// Nanoseconds per operation, one value per sample, in the order they were taken.
    var samples: [Double]
    /// Allocations per operation, if they can be counted.
    var allocations: Double?

    var nanoseconds: Double { Statistics.median(samples) }
    var spread: Double { Statistics.spread(samples) }
}
