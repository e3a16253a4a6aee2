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

    public override func load(task: HTTPTask) {
        guard inFlight.admit(task) else { return refuseDuringReset(task) }
        super.load(task: task)
    }

    /// Cancels the tasks in flight, and finishes when all have completed.
    public override func reset(with group: DispatchGroup) {
        inFlight.cancelAll(in: group)
        super.reset(with: group)
    }

    /// Accepts tasks again, although some that it has cancelled still run.
    public override func resetTimedOut(with group: DispatchGroup) {
        inFlight.giveUp(group)
        super.resetTimedOut(with: group)
    }

    var heldTasks: [HTTPTask] { inFlight.all }

    public override var details: String { "in flight \(inFlight.count)" }

    /// How many tasks are in flight.
    public override var readings: [LoaderReading] {
        [.level("autocancel.running", inFlight.count, "How many requests are in flight")]
    }
}

extension HTTPLoader {
    @inline(never)
    final func refuseDuringReset(_ task: HTTPTask) {
        fail(task, .resetInProgress, reason: "The chain is being reset; load the request again after the reset")
    }
}

/// The tasks that a loader has passed on and that have not ended, for its reset.
///
/// They are kept by their cores, so that a task is still seen as abandoned when the loaders below have released it.
final class TasksInFlight: HTTPTaskObserver {
    private let state = Locked(InFlightState<TaskCore, DispatchGroup>())

    /// The tasks, in the order in which they were made.
    var all: [HTTPTask] { state.withLock { $0.all }.sorted { $0.number < $1.number }.map { HTTPTask(for: $0) } }

    var count: Int { state.withLock { $0.count } }

    /// Remembers a task until its end, and returns whether it may be passed on: not while a reset waits for others.
    func admit(_ task: HTTPTask) -> Bool {
        let isAdmitted = state.withLock { $0.admit(task.core, number: task.number) }
        // Outside the lock and after the entry, because a task that is completed already calls back at once.
        if isAdmitted { task.addObserver(self) }
        return isAdmitted
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        for group in state.withLock({ $0.end(task.number) }) { group.leave() }
    }

    /// Cancels all tasks, and leaves `group` when each has completed.
    func cancelAll(in group: DispatchGroup) {
        group.enter()
        guard let waitedFor = state.withLock({ $0.begin(group) }) else { return group.leave() }
        for core in waitedFor { HTTPTask(for: core).cancel() }
    }

    /// Leaves `group` although tasks have not ended, and admits tasks again.
    func giveUp(_ group: DispatchGroup) {
        for group in state.withLock({ $0.giveUp { $0 === group } }) { group.leave() }
    }
}

/// The tasks in flight at a loader and the resets that wait for them, decided without threads.
///
/// While a reset waits, no task is admitted, so that the reset ends.
package struct InFlightState<Entry, Reset> {
    private var entries: [UInt64: Entry] = [:]
    private var resets: [Reset] = []

    package init() {}

    package var count: Int { entries.count }

    /// Everything in flight, in no order.
    package var all: [Entry] { Array(entries.values) }

    package mutating func admit(_ entry: consuming Entry, number: UInt64) -> Bool {
        guard resets.isEmpty else { return false }
        entries[number] = entry
        return true
    }

    /// Removes an entry that has ended, and returns the resets that have nothing more to wait for.
    package mutating func end(_ number: UInt64) -> [Reset] {
        guard entries.removeValue(forKey: number) != nil, entries.isEmpty else { return [] }
        // The memory of a burst is released.
        let mostKeptEntries = 256
        if entries.capacity > mostKeptEntries { entries = [:] }
        return replace(&resets, with: [])
    }

    /// Gives up the resets that wait and fulfil a condition, and returns them; without a reset, entries are admitted again.
    package mutating func giveUp(where isGivenUp: (Reset) -> Bool) -> [Reset] {
        resets.take(where: isGivenUp)
    }

    /// Lets `reset` wait for all entries, and returns the ones to cancel; nil if there is nothing to wait for.
    package mutating func begin(_ reset: Reset) -> [Entry]? {
        guard !entries.isEmpty else { return nil }
        resets.append(reset)
        // Another reset, which is not over, has cancelled these already.
        return resets.count == 1 ? Array(entries.values) : []
    }
}
