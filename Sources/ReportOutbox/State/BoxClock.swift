// State: what a box knows and decides, as a value without a lock, a disk or a clock. It may use Settings, Reports and Store.

import LoaderChain
import LoaderChainPlatformFoundation

/// Time as a box counts it: the time since it was opened, which no setting of the wall clock moves.
///
/// It follows the monotonic clock. That one stands still while the machine sleeps, so where the wall clock has got ahead of it
/// by no more than a machine may sleep, the difference counts as well. A larger step, or one back, is a
/// change of the clock's setting, and counts for nothing.
struct BoxClock: Sendable {
    private(set) var time = TimerInstant(nanoseconds: 0)
    private var lastInstant: TimerInstant
    private var lastDate: Double

    private static let believableSleep = Duration.seconds(1)...Duration.seconds(7 * 24 * 3600)

    init(instant: TimerInstant, date: Date) {
        lastInstant = instant
        lastDate = date.timeIntervalSinceReferenceDate
    }

    /// Moves the time to the present, and returns it.
    mutating func read(instant: TimerInstant, date: Date) -> TimerInstant {
        let date = date.timeIntervalSinceReferenceDate
        let passed = max(.zero, lastInstant.duration(to: instant))
        let asleep = date - lastDate - passed / .seconds(1)
        // Compared as a number first: the difference may be infinite or not a number, and is no duration then.
        let mayHaveSlept = asleep >= 0 && asleep <= Self.believableSleep.upperBound / .seconds(1)
        let slept = mayHaveSlept ? Duration.seconds(asleep) : .zero
        lastInstant = max(lastInstant, instant)
        lastDate = date
        time = time.advanced(by: Self.believableSleep ~= slept ? passed + slept : passed)
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
