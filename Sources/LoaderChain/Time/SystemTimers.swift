import Dispatch
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// The time of the machine.
///
/// A timer costs one allocation besides its action's own. Scheduling and cancelling take the same time whether ten
/// timers wait or a million: they wait in a timing wheel, and a single wake-up of the system serves them all. When no
/// timer waits, none is set, except for one that was set before, comes within a minute, and then finds nothing.
///
/// Timers have a resolution of a millisecond and are never early: a deadline is rounded up. The clock is the system's
/// uptime, which the wake-up uses too. It stops while the machine sleeps, and a wait continues afterwards.
///
/// An action may block its thread. The clock's own queue only decides what is due, and hands it to a thread that runs one
/// action after the other, in the order of their deadlines. If that thread has not come to the next one after a
/// millisecond, another thread runs it. So several actions can run at once. Each of them that blocks delays those behind
/// it by a millisecond, until 128 block at the same time: then the next one waits until one of them returns. Until it
/// begins, its timer can be cancelled.
public final class SystemTimers: Timers {
    /// The timers that a program shares.
    public static let shared = SystemTimers()

    private let clockwork: Clockwork

    /// Makes timers with threads and a wake-up of their own.
    ///
    /// Actions that wait are released together with them.
    public convenience init() { self.init(lanes: Clockwork.mostLanes) }

    /// Makes timers that run at most so many actions at once.
    package init(lanes: Int) { clockwork = Clockwork(lanes: lanes) }

    deinit { clockwork.stop() }

    /// The system's uptime.
    public var now: TimerInstant { .uptime }

    /// The date and the time of day that the system shows.
    public var date: Date { Date() }

    /// Runs `action` on a thread of the timers, in the first millisecond that begins no earlier than `deadline`.
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
            return now(of: CLOCK_MONOTONIC)
        #else
            return TimerInstant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
        #endif
    }

    /// The clock that goes on while the machine sleeps.
    static var continuous: TimerInstant {
        #if os(Linux)
            return now(of: CLOCK_BOOTTIME)
        #else
            return TimerInstant(nanoseconds: startOfContinuous.duration(to: .now).saturatedNanoseconds)
        #endif
    }

    #if os(Linux)
        private static func now(of clock: clockid_t) -> TimerInstant {
            var time = timespec()
            clock_gettime(clock, &time)
            return TimerInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
        }
    #else
        private static let startOfContinuous = ContinuousClock.now
    #endif
}
