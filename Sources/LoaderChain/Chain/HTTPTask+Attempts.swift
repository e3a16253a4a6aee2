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
        makeHeldAttempt(request).makeTraveller()
    }

    /// Makes an attempt for a maker that holds it, and sends another object down the chain for it.
    func makeHeldAttempt(_ request: HTTPRequest? = nil) -> HTTPTask {
        withOwner { owner in
            let attempt = HTTPTask(request: request ?? owner.request, parent: owner)
            let flags = owner.lock.acquire()
            let isOpen = owner.life.phase == .open && !owner.life.isCancelled
            if isOpen { owner.attempts.add(attempt) }
            owner.lock.release(flags)
            if !isOpen { attempt.cancel() }
            return attempt
        }
    }

    /// Makes the object that travels down the chain while this one, the caller's, stays with the caller.
    ///
    /// Both lead one life. A caller who holds on to his object cannot keep the other from being seen as abandoned.
    func makeTraveller() -> HTTPTask {
        HTTPTask(travellingFor: self)
    }

    func forget(_ attempt: HTTPTask) {
        let flags = lock.acquire()
        let forgotten = attempts.remove(attempt)
        lock.release(flags)
        _ = consume forgotten
    }

    /// Cancels the attempts that are under way.
    @inline(never)
    func cancelAttempts() {
        let left = withOwner { owner in
            let flags = owner.lock.acquire()
            defer { owner.lock.release(flags) }
            return owner.attempts
        }
        left.cancel()
    }
}
