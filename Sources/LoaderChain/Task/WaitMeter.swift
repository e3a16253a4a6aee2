/// An observer that is also called when its task begins to wait in a queue, and when that wait ends.
///
/// A queue calls all such observers that the task has when the wait begins, and those of the tasks that it works for.
/// An observer that a loader below the queue adds comes later, and is not called.
protocol WaitMeter: HTTPTaskObserver {
    /// Called when a wait begins; several may overlap.
    func waitBegins()

    /// Called when a wait has ended.
    func waitEnded()
}

extension HTTPTask {
    /// Adds an observer of the waits of this task and its attempts, and of its end.
    func addMeter(_ meter: any WaitMeter) {
        core.isMetered.store(true, ordering: .releasing)
        addObserver(meter)
    }

    /// Begins a wait in a queue, and returns whether it is measured; where it is not, this only reads a byte.
    ///
    /// End a measured wait once. One that is never ended is over when the task ends.
    @inline(__always)
    func beginWait() -> Bool {
        guard core.isMetered.load(ordering: .acquiring) else { return false }
        return core.tellMeters { $0.waitBegins() }
    }

    /// Ends a wait that is measured.
    ///
    /// The observers are those of the beginning: no loader adds one while the task waits, because loaders below get it
    /// later.
    @inline(never)
    func endWait() {
        _ = core.tellMeters { $0.waitEnded() }
    }
}

extension TaskCore {
    /// Calls the meters of this task and of those that it works for, and returns whether there are any.
    @inline(never)
    fileprivate func tellMeters(_ body: (any WaitMeter) -> Void) -> Bool {
        var isMeasured = false
        var task: TaskCore? = self
        while let told = task {
            if told.isMetered.load(ordering: .acquiring) {
                for meter in told.ownMeters {
                    body(meter)
                    isMeasured = true
                }
            }
            task = told.parent
        }
        return isMeasured
    }

    private var ownMeters: [any WaitMeter] {
        withState { state, _ in state.life.observers }.compactMap { $0 as? any WaitMeter }
    }
}
