// Time: what the clock says, calls at an instant, and what is counted over a while. It may use Support; whatever waits
// or measures uses it.

import LoaderChainPlatformFoundation

/// The time that a chain uses: a clock, and calls at an instant.
///
/// Retry delays, rate limits and deadlines use nothing else, so that a test can move a whole chain through an hour in a
/// microsecond.
///
/// ## Which to choose
///
/// ``SystemTimers/shared`` in a program; `ManualTimers`, of the testing module, in a test: its clock stands still until
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
/// timestamps: it follows the wall clock, which can be set at any time.
///
/// An action may run at the same time as another one, so it protects the state that they share. It may block its thread
/// with ``SystemTimers``; with other timers it should return quickly and hand long work on, because they may run all
/// actions one after another.
///
/// ## How to write your own
///
/// - ``now`` never goes back.
/// - An action runs once, never before its deadline, and never inside the call that schedules it, even if the deadline
///   has already passed.
/// - Actions begin in the order of their deadlines; those with the same deadline begin in the order in which they were
///   scheduled. A deadline that has passed when its action is scheduled counts as the present.
/// - An action that blocks its thread should not hold up the others for long: loaders and handlers run in actions.
/// - ``ScheduledTimer/cancel()`` returns `true` or the action runs, never both.
/// - No lock is held while an action runs or is released, so that an action may schedule and cancel.
/// - When the timers end, actions that wait are released and never run.
public protocol Timers: AnyObject, Sendable {
    /// The present, on the monotonic clock.
    var now: TimerInstant { get }

    /// The present, on the wall clock; for HTTP dates and timestamps only.
    var date: Date { get }

    /// Runs `action` when `deadline` has come, or soon if it has passed, unless the returned timer is cancelled first.
    @discardableResult
    func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer
}

extension Timers {
    /// Runs `action` when `delay` has passed, or soon if it is not positive, unless the returned timer is cancelled
    /// first.
    @discardableResult
    public func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        schedule(at: now.advanced(by: delay), action)
    }
}
