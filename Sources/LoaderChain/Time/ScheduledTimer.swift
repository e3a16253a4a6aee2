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
