/// An observer that also hears when its task begins and ends to wait in a queue.
///
/// A queue tells all observers of this kind that the task has when a wait begins, and those of the tasks that it works for.
/// So a loader below the queue, which comes later, hears nothing of it.
protocol WaitMeter: HTTPTaskObserver {
    /// A wait begins; several may overlap.
    func waitBegins()

    /// A wait has ended.
    func waitEnded()
}

extension HTTPTask {
    /// Lets `meter` hear of the waits of this task and of those that work for it, and of its end.
    func addMeter(_ meter: any WaitMeter) {
        core.isMetered.store(true, ordering: .releasing)
        addObserver(meter)
    }

    /// Begins a wait in a queue, and answers whether anybody measures it, which is found out by looking at a byte.
    ///
    /// A wait that is measured is to be ended once. One that nobody ends is over when the task is.
    @inline(__always)
    func beginWait() -> Bool {
        guard core.isMetered.load(ordering: .acquiring) else { return false }
        return core.tellMeters { $0.waitBegins() }
    }

    /// Ends a wait that is measured.
    ///
    /// Nobody has joined those who were told of its beginning: loaders below get the task later.
    @inline(never)
    func endWait() {
        _ = core.tellMeters { $0.waitEnded() }
    }
}

extension TaskCore {
    /// Tells the meters of this task and of those that it works for, and answers whether there are any.
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
