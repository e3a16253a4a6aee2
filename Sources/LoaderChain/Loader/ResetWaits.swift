import Dispatch

/// The tasks that the resets of a loader wait for, as long as those have time.
///
/// A loader that keeps tasks lets a reset wait until each has ended. When the time of a reset is up, it forgets that
/// reset, so that a task that never ends keeps nothing of the resets that were given up.
///
/// ```swift
/// final class Shelf: HTTPLoader, @unchecked Sendable {
///     private let lock = NSLock()
///     private var tasks: [HTTPTask] = []
///     private let waits = ResetWaits()
///
///     override func load(task: HTTPTask) {
///         lock.withLock { tasks.append(task) }
///     }
///
///     override func reset(with group: DispatchGroup) {
///         for task in lock.withLock({ tasks }) {
///             waits.add(group, for: task)
///             task.cancel()
///         }
///         super.reset(with: group)
///     }
///
///     override func resetTimedOut(with group: DispatchGroup) {
///         waits.giveUp(group)
///         super.resetTimedOut(with: group)
///     }
/// }
/// ```
///
/// A task costs one observer, however many resets wait for it.
public final class ResetWaits: HTTPTaskObserver {
    /// The groups of the resets, by the tasks; a task stays until it has ended, so that it is observed once.
    private let groups = Locked<[UInt64: [DispatchGroup]]>([:])

    /// Makes an object without tasks.
    public init() {}

    /// Enters `group`, and leaves it when the task has its result.
    public func add(_ group: DispatchGroup, for task: HTTPTask) {
        group.enter()
        let isNew = groups.withLock { groups in
            let isNew = groups[task.number] == nil
            groups[task.number, default: []].append(group)
            return isNew
        }
        // Outside the lock and after the entry, because a task that has ended calls back at once.
        if isNew { task.addObserver(self) }
    }

    /// Leaves `group` although tasks have not ended, and forgets it.
    public func giveUp(_ group: DispatchGroup) {
        let left = groups.withLock { groups in
            groups.keys.reduce(0) { $0 + (groups[$1]?.take { $0 === group }.count ?? 0) }
        }
        for _ in 0..<left { group.leave() }
    }

    /// Leaves the groups that waited for the task.
    public func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        for group in groups.withLock({ $0.removeValue(forKey: task.number) }) ?? [] { group.leave() }
    }
}
