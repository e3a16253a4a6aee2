/// An action that waits for its instant.
///
/// Keep it in order to cancel. Letting go of it cancels nothing.
public protocol ScheduledTimer: AnyObject, Sendable {
    /// Sees to it that the action does not run, and lets go of the action at once.
    ///
    /// Any thread may call it, any number of times, also from within an action.
    ///
    /// - Returns: `true` for the one call that came before the action; the action then never runs. `false` if the
    ///   action runs, has run, was cancelled before, or went away together with its timers.
    @discardableResult
    func cancel() -> Bool
}
