/// An observer that is also called when its task begins to wait in a queue, and when that wait ends.
///
/// ``MetricsTap`` uses one to measure queue time. A loader that measures how long the server takes subtracts the waits:
///
/// ```swift
/// nonisolated final class WaitCount: HTTPTaskWaitObserver, @unchecked Sendable {
///     private let lock = NSLock()
///     private var waits = 0
///
///     func waitBegan() { lock.withLock { waits += 1 } }
///     func waitEnded() {}
///     func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
///         print(lock.withLock { waits })
///     }
/// }
/// ```
///
/// Register it with ``HTTPTask/addWaitObserver(_:)``. It is called for the waits of its task and of the attempts that work for
/// that task, on any thread and under no lock, and may cancel the task when a wait begins. Waits can overlap: a task may have
/// two attempts. An observer that is added during a wait is called neither for the rest of that wait nor for its end.
public protocol HTTPTaskWaitObserver: HTTPTaskObserver {
    /// Called when a wait has begun; several may overlap.
    func waitBegan()

    /// Called when a wait has ended.
    ///
    /// A wait that the end of the task cuts short need not be followed by this.
    func waitEnded()
}

extension HTTPTask {
    /// Adds an observer of the waits of this task and its attempts, and of its end.
    public func addWaitObserver(_ observer: any HTTPTaskWaitObserver) {
        core.observeWaits()
        addObserver(observer)
    }

    /// Begins a wait in a queue, so that metrics can separate it from the time that the server takes.
    ///
    /// A loader that lets a task wait calls this when the wait begins, and ``endWait()`` once when it is over. Without an
    /// observer of waits, it costs next to nothing.
    ///
    /// - Returns: whether the wait is observed. If it is not, ``endWait()`` can be left out. A wait that is never ended
    ///   is over when the task ends.
    @discardableResult
    @inline(__always)
    public func beginWait() -> Bool {
        guard core.observesWaits.load(ordering: .acquiring) else { return false }
        return core.beginWait()
    }

    /// Ends a wait that ``beginWait()`` has begun.
    ///
    /// Only the observers that were called at the beginning are called at the end; without any, nothing happens.
    @inline(never)
    public func endWait() { core.endWait() }
}

extension TaskCore {
    /// Calls the observers of this task and of those that it works for, and returns whether there are any.
    @inline(never)
    fileprivate func beginWait() -> Bool {
        let observers = waitObservers
        guard !observers.isEmpty else { return false }
        let hearing = observers.map { ObjectIdentifier($0) }
        withState { state, _ in state.waits.append(hearing) }
        for observer in observers { observer.waitBegan() }
        return true
    }

    fileprivate func endWait() {
        guard let hearing = withState({ state, _ in state.waits.popLast() }) else { return }
        // A task holds its observers until its end, so none of them has the identity of another one that is gone.
        for observer in waitObservers where hearing.contains(ObjectIdentifier(observer)) { observer.waitEnded() }
    }

    private var waitObservers: [any HTTPTaskWaitObserver] {
        var observers: [any HTTPTaskWaitObserver] = []
        var task: TaskCore? = self
        while let asked = task {
            if asked.observesWaits.load(ordering: .acquiring) {
                let own = asked.withState { state, _ in state.life.observers }
                observers += own.compactMap { $0 as? any HTTPTaskWaitObserver }
            }
            task = asked.parent
        }
        return observers
    }
}
