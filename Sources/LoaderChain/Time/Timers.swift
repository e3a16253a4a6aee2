#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Time, as the chain sees it: what the clock says, and a call when an instant has come.
///
/// Retry delays, rate limits and deadlines take their time from here and from nowhere else. Whoever owns the timers
/// owns the time, and a test can move a whole chain through an hour in a microsecond.
///
/// ## Which to choose
///
/// ``SystemTimers/shared`` in a program. `ManualTimers`, of the testing module, in a test: its clock stands still until
/// the test moves it.
///
/// ## How to use them
///
/// ```swift
/// let timeout = timers.schedule(after: .seconds(30)) { task.cancel() }
/// // The answer came first.
/// timeout.cancel()
///
/// try await timers.sleep(for: .milliseconds(200))
/// ```
///
/// Measure and wait with ``now``, which never jumps. Use ``date`` for what leaves the process, such as HTTP dates and
/// timestamps: it follows the wall clock wherever somebody sets it.
///
/// An action returns quickly, and hands long work on: the timers are free to run all actions one after another.
///
/// ## How to write your own
///
/// - ``now`` never goes back.
/// - An action runs once, never before its deadline, and never inside the call that schedules it, not even when the
///   deadline has passed already.
/// - Actions run in the order of their deadlines; those of one deadline, in the order in which they were scheduled. A
///   deadline that has passed when its action is scheduled counts as the present.
/// - ``ScheduledTimer/cancel()`` returns `true` or the action runs, never both.
/// - No lock is held while an action runs or is let go of, so that an action may schedule and cancel.
/// - When the timers go away, what waits is let go of and never runs.
public protocol Timers: AnyObject, Sendable {
    /// The instant that the monotonic clock shows.
    var now: TimerInstant { get }

    /// The time of day and the date, for HTTP dates and timestamps only.
    var date: Date { get }

    /// Runs `action` once `deadline` has come, soon if it has passed, unless the returned timer is cancelled first.
    @discardableResult
    func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer
}

extension Timers {
    /// Runs `action` once `delay` has passed, soon if it is not positive, unless the returned timer is cancelled first.
    @discardableResult
    public func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        schedule(at: now.advanced(by: delay), action)
    }
}
