// Time: what the clock says, calls at an instant, and what is counted over a while. It may use Support; whatever waits or measures uses it.

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

    /// Suspends the current Swift task for `duration`; returns at once if that is zero or less.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled. No timer is left then.
    public func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        let isOver = Awaited(false)
        let timer = schedule(after: duration) { isOver.change { $0 = true } }
        guard await isOver.wait(for: { $0 ? true : nil }) != nil else {
            timer.cancel()
            throw CancellationError()
        }
    }
}

/// An action that waits for its instant.
///
/// Keep it to be able to cancel. Releasing it cancels nothing.
public protocol ScheduledTimer: AnyObject, Sendable {
    /// Prevents the action from running, and releases it at once.
    ///
    /// Any thread may call it, any number of times, also from within an action.
    ///
    /// - Returns: `true` for the one call that came before the action; the action then never runs. `false` if the
    ///   action runs, has run, was cancelled before, or went away together with its timers.
    @discardableResult
    func cancel() -> Bool
}

/// An instant on the monotonic clock of some ``Timers``.
///
/// An instant counts nanoseconds from a start that the clock chooses, so you can compare only instants of the same timers.
/// Arithmetic saturates.
public struct TimerInstant: InstantProtocol, Hashable, Sendable {
    /// The nanoseconds since the clock's start.
    public let nanoseconds: Int64

    /// Makes the instant `nanoseconds` after the clock's start.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    static var never: TimerInstant { TimerInstant(nanoseconds: .max) }

    /// The instant `duration` after this one; saturates.
    public func advanced(by duration: Duration) -> TimerInstant {
        TimerInstant(nanoseconds: Int64(clamping: Int128(nanoseconds) + duration.wholeNanoseconds))
    }

    /// The exact time from this instant to `other`, negative if `other` is earlier.
    public func duration(to other: TimerInstant) -> Duration {
        .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    /// Whether `left` comes before `right`.
    public static func < (left: TimerInstant, right: TimerInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// The duration in nanoseconds, rounded up so that waits are never too short.
    package var wholeNanoseconds: Int128 {
        // Dividing 128 bits takes longer than reading a clock. What is not negative, and shorter than an hour, is divided as
        // 64 bits: in two steps, because a nanosecond has 2⁹ · 5⁹ attoseconds, and each rounds up.
        if let parts = Int64(exactly: (attoseconds &+ 511) >> 9), parts >= 0 {
            let (nanoseconds, fraction) = parts.quotientAndRemainder(dividingBy: 1_953_125)
            return Int128(fraction > 0 ? nanoseconds + 1 : nanoseconds)
        }
        return wholeNanosecondsOfAnyDuration
    }

    @inline(never)
    private var wholeNanosecondsOfAnyDuration: Int128 {
        let (nanoseconds, fraction) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return fraction > 0 ? nanoseconds + 1 : nanoseconds
    }

    /// The duration in nanoseconds, or the nearest number that 64 bits hold.
    package var saturatedNanoseconds: Int64 { Int64(clamping: wholeNanoseconds) }
}
