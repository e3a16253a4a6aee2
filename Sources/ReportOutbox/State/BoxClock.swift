// State: what a box knows and decides, as a value without a lock, a disk or a clock. It may use Settings, Reports and Store.

import LoaderChain

/// Time as a box counts it: the time since it was opened, which no setting of the wall clock moves.
///
/// It follows the monotonic clock, and counts the sleep of the machine as well.
struct BoxClock: Sendable {
    private(set) var time = TimerInstant(nanoseconds: 0)
    private var meter: SleepMeter

    init(_ reading: ClockReading) { meter = SleepMeter(reading) }

    /// Moves the time to the present, and returns it.
    mutating func read(_ reading: ClockReading) -> TimerInstant {
        let (passed, slept) = meter.read(reading)
        time = time.advanced(by: passed + slept)
        return time
    }
}

extension TimerInstant {
    /// Before every moment of a box.
    static let distantPast = TimerInstant(nanoseconds: .min)
}

extension Int64 {
    /// The sum, or the end of what can be counted.
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
