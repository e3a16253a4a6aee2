import Synchronization

/// The clock of the measurements, which excludes time that the harness itself spends inside a sample.
///
/// Starting sixteen threads takes a good part of a millisecond, which a benchmark on sixteen threads should not include.
enum WorkClock {
    private static let start = ContinuousClock.now
    private static let leftOut = Atomic<Int>(0)

    /// Nanoseconds of work since a fixed moment.
    static func now() -> Double {
        start.duration(to: .now).nanoseconds - Double(leftOut.load(ordering: .relaxed))
    }

    /// Excludes time of the harness from the current sample.
    static func leaveOut(_ duration: Duration) {
        leftOut.wrappingAdd(Int(duration.nanoseconds), ordering: .relaxed)
    }
}

extension Duration {
    var nanoseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    }
}
