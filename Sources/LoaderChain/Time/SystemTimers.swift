import Dispatch

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The time of the machine.
///
/// A timer costs one allocation besides its action's own. Scheduling and cancelling take the same time whether ten
/// timers wait or a million: they wait in a timing wheel, and a single wake-up of the system serves them all. When no
/// timer waits, none is set.
///
/// Timers have a resolution of a millisecond and are never early: a deadline is rounded up. The clock is the system's
/// uptime, which the wake-up uses too. It stops while the machine sleeps, and a wait continues afterwards.
///
/// Actions run one after another, in the order of their deadlines, on a queue of these timers. A queue for each action
/// would cost more than most actions do, and lose the order. An action should return quickly and hand long work on; one
/// that blocks delays those after it.
public final class SystemTimers: Timers {
    /// The timers that a program shares.
    public static let shared = SystemTimers()

    private let clockwork = Clockwork()

    /// Makes timers with a queue and a wake-up of their own.
    ///
    /// Actions that wait are released together with them.
    public init() {}

    deinit {
        clockwork.stop()
    }

    /// The system's uptime.
    public var now: TimerInstant { .uptime }

    /// The date and the time of day that the system shows.
    public var date: Date { Date() }

    /// Runs `action` on the timers' queue, in the first millisecond that begins no earlier than `deadline`.
    @discardableResult
    public func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        clockwork.schedule(at: deadline, action)
    }

    /// Whether a wake-up of the system is set.
    package var isArmed: Bool { clockwork.isArmed }
}

extension TimerInstant {
    /// The clock that Dispatch's timers use.
    static var uptime: TimerInstant {
        #if os(Linux)
            // Dispatch reads this clock too, and takes twice as long.
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return TimerInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
        #else
            return TimerInstant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
        #endif
    }
}
