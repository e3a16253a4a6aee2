/// Attempts: tasks that work for another task.
extension HTTPTask {
    /// Makes another task that works for this one, as a retry does.
    ///
    /// Cancelling this task cancels its attempts, and completing it cancels those that are still under way. Decide what an
    /// attempt's result means for this task in a completion handler of the attempt.
    ///
    /// ```swift
    /// final class OnAnotherTask: HTTPLoader, @unchecked Sendable {
    ///     override func load(task: HTTPTask) {
    ///         let attempt = task.makeAttempt()
    ///         attempt.addCompletionHandler { result in task.complete(result) }
    ///         super.load(task: attempt)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter request: the request of the attempt; nil for the request of this task as it is now.
    public func makeAttempt(_ request: HTTPRequest? = nil) -> HTTPTask {
        HTTPTask(chainHandleFor: makeAttemptCore(request))
    }

    /// Makes an attempt whose maker keeps this handle, and sends another one down the chain.
    func makeHeldAttempt(_ request: HTTPRequest? = nil) -> HTTPTask {
        HTTPTask(holding: makeAttemptCore(request))
    }

    private func makeAttemptCore(_ request: HTTPRequest?) -> TaskCore {
        let attempt = TaskCore(request ?? self.request, worksFor: core)
        let isOpen = core.withState { state, flags in
            let isOpen = state.life.phase == .open && flags.isOpen
            if isOpen { state.attempts.add(attempt) }
            return isOpen
        }
        // An observer may have been added meanwhile.
        if core.observesWaits.load(ordering: .acquiring) { attempt.observesWaits.store(true, ordering: .releasing) }
        if !isOpen { HTTPTask(for: attempt).stop(atDeadline: core.flags.contains(.expired)) }
        return attempt
    }

    /// Notes that the head of a response has arrived; a terminal calls this before the body has.
    ///
    /// If the task is ended then, as by its deadline, that says nothing about how long the server took.
    package func noteHead() {
        var next: TaskCore? = core
        while let core = next {
            core.withState { _, flags in _ = flags.insert(.answered) }
            next = core.parent
        }
    }

    package var hasHead: Bool { core.flags.contains(.answered) }

    /// Makes the handle that goes down the chain while the caller keeps this one.
    ///
    /// A caller that keeps its handle then does not hide that the chain has abandoned the task.
    func makeChainHandle() -> HTTPTask {
        HTTPTask(chainHandleFor: self)
    }

    /// The value of an option that all attempts of the caller's task share; the first attempt that asks makes it.
    func sharedOption<Option: HTTPRequestOption, Value: Sendable>(
        _ option: Option.Type, orMake make: () -> Value
    ) -> Value where Option.Value == Value? {
        var caller = core
        while let parent = caller.parent { caller = parent }
        while true {
            let request = caller.withState { state, _ in state.request }
            if let value = request[option: option] { return value }
            let value = make()
            var changed = request
            changed[option: option] = value
            // The loader that has the caller's task may rewrite the request meanwhile.
            let isSame = caller.withState { state, _ in
                guard state.request.storage === request.storage else { return false }
                swap(&state.request, &changed)
                return true
            }
            if isSame { return value }
        }
    }
}

/// The attempts of a task that are under way.
///
/// They are held until they end. That cycle always breaks: the handle that goes down the chain for an attempt is not
/// held here, and when the chain lets go of it, the attempt ends.
struct AttemptList: Sendable {
    // A task usually has one attempt, which needs no dictionary.
    private var first: TaskCore?
    private var others: [UInt64: TaskCore] = [:]

    var isEmpty: Bool {
        @inline(__always) get { first == nil && others.isEmpty }
    }

    mutating func add(_ attempt: TaskCore) {
        if first == nil { first = attempt } else { others[attempt.number] = attempt }
    }

    /// Removes an attempt and returns it, so that its last reference is not released under a lock.
    mutating func remove(_ attempt: TaskCore) -> TaskCore? {
        if first === attempt { return first.take() }
        return others.isEmpty ? nil : others.removeValue(forKey: attempt.number)
    }

    /// All attempts, in a new array: a dictionary that left the lock would be copied by the next change.
    var all: [TaskCore] {
        guard !others.isEmpty else { return first.map { [$0] } ?? [] }
        return Array(others.values) + [first].compactMap(\.self)
    }
}
