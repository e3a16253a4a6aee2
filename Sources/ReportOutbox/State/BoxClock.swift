import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Time as a box counts it: milliseconds since it was opened, which no setting of the wall clock moves.
///
/// It follows the monotonic clock. That one stands still while the machine sleeps, so where the wall clock has got ahead of it
/// by no more than a machine may sleep, the difference counts as well. A larger step, or one back, is somebody setting the
/// clock, and counts for nothing.
struct BoxClock: Sendable {
    private(set) var time: Int64 = 0
    private var remainder: Int64 = 0
    private var lastInstant: TimerInstant
    private var lastDate: Double

    private static let longestSleep: Double = 7 * 24 * 3600
    private static let shortestSleep: Double = 1

    init(instant: TimerInstant, date: Date) {
        lastInstant = instant
        lastDate = date.timeIntervalSinceReferenceDate
    }

    /// Moves the time to the present, and answers it.
    mutating func read(instant: TimerInstant, date: Date) -> Int64 {
        let date = date.timeIntervalSinceReferenceDate
        let passed = max(0, lastInstant.duration(to: instant).saturatedNanoseconds)
        let asleep = date - lastDate - Double(passed) / 1e9
        let slept = Self.shortestSleep...Self.longestSleep ~= asleep ? Int64(asleep * 1000) : 0
        lastInstant = max(lastInstant, instant)
        lastDate = date
        let nanoseconds = remainder + passed % 1_000_000
        remainder = nanoseconds % 1_000_000
        time = time.addingClamped(passed / 1_000_000 + nanoseconds / 1_000_000 + slept)
        return time
    }
}

extension Int64 {
    /// The sum, or the end of what can be counted.
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
