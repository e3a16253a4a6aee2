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
/// A timer costs one allocation beside its action's own, and scheduling and cancelling take the same time whether ten
/// timers wait or a million: they wait in a timing wheel, and a single wake-up of the system serves them all. When
/// nothing waits, nothing is armed.
///
/// Timers are a millisecond coarse and never early: a deadline is rounded up. The clock is the system's uptime, the
/// one that the wake-up itself is set by. It stands still while the machine sleeps, and a wait goes on where it was.
///
/// Actions run one after another, in the order of their deadlines, on a queue of these timers. A queue of its own for
/// each action would cost more than most actions do, and lose the order. So an action returns quickly and hands long
/// work on; one that blocks delays those after it.
public final class SystemTimers: Timers {
    /// The timers that a program shares.
    public static let shared = SystemTimers()

    private let clockwork = Clockwork()

    /// Timers with a queue and a wake-up of their own.
    ///
    /// What waits is let go of along with them.
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
    /// The clock of Dispatch, whose timers run by it.
    static var uptime: TimerInstant {
        #if os(Linux)
            // It is this one, and asking Dispatch takes as long again.
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return TimerInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
        #else
            return TimerInstant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
        #endif
    }
}
