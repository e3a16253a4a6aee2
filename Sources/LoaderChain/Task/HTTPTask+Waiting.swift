/// An observer that is also called when its task begins to wait in a queue, and when that wait ends.
///
/// ``MetricsTap`` tells with one how long a request has waited. A loader that measures how long the server takes
/// subtracts the waits:
///
/// ```swift
/// nonisolated final class WaitCount: HTTPTaskWaitObserver, @unchecked Sendable {
///     private let lock = NSLock()
///     private var waits = 0
///
///     func waitBegins() { lock.withLock { waits += 1 } }
///     func waitEnded() {}
///     func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
///         print(lock.withLock { waits })
///     }
/// }
/// ```
///
/// Register it with ``HTTPTask/addWaitObserver(_:)``. It hears the waits of its task and of the attempts that work for
/// that task, on any thread and under no lock, and may cancel the task when one begins. Waits can overlap: a task may
/// have two attempts. An observer that is added by a loader below the queue comes later, and does not hear the wait.
public protocol HTTPTaskWaitObserver: HTTPTaskObserver {
    /// Called when a wait begins; several may overlap.
    func waitBegins()

    /// Called when a wait has ended.
    ///
    /// A wait that the end of the task cuts short need not be followed by this.
    func waitEnded()
}

extension HTTPTask {
    /// Adds an observer of the waits of this task and its attempts, and of its end.
    public func addWaitObserver(_ observer: any HTTPTaskWaitObserver) {
        core.observesWaits.store(true, ordering: .releasing)
        addObserver(observer)
    }

    /// Begins a wait in a queue, so that metrics can tell it from the time that the server takes.
    ///
    /// A loader that lets a task wait calls this when the wait begins, and ``endWait()`` once when it is over. Where no
    /// observer of waits is registered, that costs next to nothing.
    ///
    /// - Returns: whether the wait is observed. If it is not, ``endWait()`` can be left out. A wait that is never ended
    ///   is over when the task ends.
    @discardableResult
    @inline(__always)
    public func beginWait() -> Bool {
        guard core.observesWaits.load(ordering: .acquiring) else { return false }
        return core.tellWaitObservers { $0.waitBegins() }
    }

    /// Ends a wait that ``beginWait()`` has begun.
    ///
    /// The observers are those of the beginning: no loader adds one while the task waits, because loaders below get it
    /// later.
    @inline(never)
    public func endWait() {
        _ = core.tellWaitObservers { $0.waitEnded() }
    }
}

extension TaskCore {
    /// Calls the observers of this task and of those that it works for, and returns whether there are any.
    @inline(never)
    fileprivate func tellWaitObservers(_ body: (any HTTPTaskWaitObserver) -> Void) -> Bool {
        var isObserved = false
        var task: TaskCore? = self
        while let told = task {
            if told.observesWaits.load(ordering: .acquiring) {
                for observer in told.ownWaitObservers {
                    body(observer)
                    isObserved = true
                }
            }
            task = told.parent
        }
        return isObserved
    }

    private var ownWaitObservers: [any HTTPTaskWaitObserver] {
        withState { state, _ in state.life.observers }.compactMap { $0 as? any HTTPTaskWaitObserver }
    }
}
