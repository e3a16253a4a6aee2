import Dispatch

/// Cancels what is in flight when the chain is reset, and waits until each of those tasks has completed.
///
/// Put it near the head of the chain, just below the ``ResetGuard``: it ends what is below it, so what waits in a
/// `Throttle` or for a retry should be below.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> throttle --> terminal
/// await chain.reset()  // Nothing is in flight now.
/// ```
///
/// The tasks in flight complete as ``HTTPError/Code/cancelled``. One that arrives while they are being waited for fails
/// with ``HTTPError/Code/resetInProgress``, so that a reset always comes to an end; with a guard above, hardly any will.
public final class Autocancel: HTTPLoader, @unchecked Sendable {
    private let inFlight = TasksInFlight()

    /// Remembers the task, and passes it on.
    public override func load(task: HTTPTask) {
        guard inFlight.admit(task) else { return refuse(task) }
        super.load(task: task)
    }

    /// Cancels what is in flight, and finishes when all of it has completed.
    public override func reset(with group: DispatchGroup) {
        inFlight.cancelAll(in: group)
        super.reset(with: group)
    }

    /// How many tasks are in flight.
    public override var details: String { "in flight \(inFlight.count)" }

    @inline(never)
    private func refuse(_ task: HTTPTask) {
        fail(task, .resetInProgress, reason: "What was in flight is being cancelled; load it again after the reset")
    }
}
