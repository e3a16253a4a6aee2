import Dispatch

/// Cancels the tasks that are in flight when the chain is reset, and waits until each has completed.
///
/// Put it near the head of the chain, just below the ``ResetGuard``: it ends the tasks below it, also those that wait
/// in a `Throttle` or for a retry.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> throttle --> terminal
/// await chain.reset()  // Nothing is in flight now.
/// ```
///
/// The tasks in flight complete with ``HTTPError/Code/cancelled``. A task that arrives meanwhile fails with
/// ``HTTPError/Code/resetInProgress``, so that a reset always ends; with a guard above, this is rare.
public final class Autocancel: HTTPLoader, TaskHolder, @unchecked Sendable {
    private let inFlight = TasksInFlight()

    /// Remembers the task, and passes it on.
    public override func load(task: HTTPTask) {
        guard inFlight.admit(task) else { return refuse(task) }
        super.load(task: task)
    }

    /// Cancels the tasks in flight, and finishes when all have completed.
    public override func reset(with group: DispatchGroup) {
        inFlight.cancelAll(in: group)
        super.reset(with: group)
    }

    /// Takes tasks again, though some that it has cancelled go on.
    public override func resetTimedOut(with group: DispatchGroup) {
        inFlight.giveUp(group)
        super.resetTimedOut(with: group)
    }

    var heldTasks: [HTTPTask] { inFlight.all }

    /// How many tasks are in flight.
    public override var details: String { "in flight \(inFlight.count)" }

    /// How many tasks are in flight.
    public override var readings: [LoaderReading] {
        [
            LoaderReading(
                "loaderchain.autocancel.running", .level, inFlight.count, unit: "{request}",
                help: "How many requests are in flight")
        ]
    }

    @inline(never)
    private func refuse(_ task: HTTPTask) {
        fail(task, .resetInProgress, reason: "What was in flight is being cancelled; load it again after the reset")
    }
}
