/// The deadline of a task: a timer that ends it, unless the task that it works for ends no later.
extension TaskCore {
    /// The deadline in force; without one, this only reads a flag.
    var deadline: Deadline? {
        @inline(__always) get { flags.contains(.hasDeadline) ? readDeadline() : nil }
    }

    @inline(never)
    private func readDeadline() -> Deadline? { withState { state, _ in state.request.deadline } }

    /// Takes over the deadline of the task that this one works for, unless its own is earlier.
    @inline(never)
    func beginDeadline() {
        guard let limit = parent?.deadline else { return watchDeadline() }
        // Otherwise the end of the parent ends this one in time.
        if let deadline, deadline.isEarlier(than: limit) { return watchDeadline() }
        var request = withState { state, _ in state.request }
        request.deadline = limit
        withState { state, _ in swap(&state.request, &request) }
    }

    /// Puts a request in the place of another, which ends outside the lock: it may hold the last reference to a user's object.
    ///
    /// Of the deadlines of both, the earlier one stays in force.
    @inline(never)
    func replaceRequest(with request: HTTPRequest) {
        let old = deadline
        var (request, isEarlier) = (request, false)
        if let new = request.deadline { isEarlier = old.map { new.isEarlier(than: $0) } ?? true }
        if !isEarlier { request.deadline = old }
        withState { state, flags in
            swap(&state.request, &request)
            flags.insert(.hasDeadline)
        }
        if isEarlier { watchDeadline() }
    }

    /// Makes sure that the task ends at its deadline.
    @inline(never)
    func watchDeadline() {
        guard let deadline else { return }
        if deadline.hasPassed { return expire() }
        let timer = deadline.schedule { self.end() }
        let unused = withState { state, flags in
            flags.contains(.completed) ? timer : replace(&state.deadlineTimer, with: timer)
        }
        unused?.cancel()
    }

    /// Cancels the timer of a task that has ended, or that nothing refers to any more.
    @inline(never)
    func unwatchDeadline() {
        withState { state, _ in replace(&state.deadlineTimer, with: nil) }?.cancel()
    }

    /// Ends the task if its deadline has come; a timer may be late.
    ///
    /// - Returns: whether there is time left.
    @inline(never)
    func hasTime() -> Bool {
        guard let deadline, deadline.hasPassed else { return true }
        expire()
        return false
    }

    private func expire() {
        HTTPTask(for: self).stop(atDeadline: true)
    }

    /// Ends the task, whatever the loader that has it makes of its cancel; what that completes it with later is dropped.
    private func end() {
        let task = HTTPTask(for: self)
        // Before the cancel, which ends attempts.
        let holder = lastHolderName
        task.stop(atDeadline: true)
        if !task.isCompleted { task.complete(.failure(HTTPError(.cancelled, request: task.request, loader: holder))) }
    }

    /// The loader that has the task, or the last attempt that works for it.
    var lastHolderName: String? {
        let attempts = withState { state, _ in state.attempts.all }
        let last = attempts.max { $0.number < $1.number }
        return last?.lastHolderName ?? HTTPTask(for: self).holderName
    }
}
