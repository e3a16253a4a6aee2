import Synchronization

/// The clock of the measurements, which stands still while the harness itself is at work inside a sample.
///
/// Starting sixteen threads takes a good part of a millisecond, and is not what a benchmark of sixteen threads is about.
enum WorkClock {
    private static let start = ContinuousClock.now
    private static let leftOut = Atomic<Int>(0)

    /// Nanoseconds of work since some fixed moment.
    static func now() -> Double {
        start.duration(to: .now).nanoseconds - Double(leftOut.load(ordering: .relaxed))
    }

    /// Takes a stretch of time that belongs to the harness out of the sample being taken.
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
