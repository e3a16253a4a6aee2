/// Tasks that work for others.
extension HTTPTask {
    /// Makes another task that works for this one, as a retry does.
    ///
    /// Cancelling this task cancels its attempts, and so does completing it while some are still under way. What an
    /// attempt's result means for this task is for its maker to say, in a completion handler of the attempt.
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
    /// - Parameter request: what the attempt is to load; nil for the request of this task as it is now.
    public func makeAttempt(_ request: HTTPRequest? = nil) -> HTTPTask {
        HTTPTask(travellingFor: makeAttemptCore(request))
    }

    /// Makes an attempt for a maker that holds it, and sends another object down the chain for it.
    func makeHeldAttempt(_ request: HTTPRequest? = nil) -> HTTPTask {
        HTTPTask(holding: makeAttemptCore(request))
    }

    private func makeAttemptCore(_ request: HTTPRequest?) -> TaskCore {
        let attempt = TaskCore(request ?? self.request, worksFor: core)
        let isOpen = core.withState { state, flags in
            let isOpen = state.life.phase == .open && flags.isEmpty
            if isOpen { state.attempts.add(attempt) }
            return isOpen
        }
        if !isOpen { HTTPTask(for: attempt).cancel() }
        return attempt
    }

    /// Makes the object that travels down the chain while this one, the caller's, stays with the caller.
    ///
    /// A caller who holds on to this object cannot keep the other from being seen as abandoned.
    func makeTraveller() -> HTTPTask {
        HTTPTask(travellingFor: self)
    }
}
