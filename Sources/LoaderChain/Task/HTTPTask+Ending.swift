/// Ending a task.
extension HTTPTask {
    /// Asks the loader that has the task to stop it.
    ///
    /// - Returns: whether this was the first cancel and came before any result.
    @discardableResult
    public func cancel() -> Bool { stop(atDeadline: false) }

    /// Cancels the task, for a caller or because its deadline has come.
    @discardableResult
    func stop(atDeadline: Bool) -> Bool {
        let (heard, leavesAttempts) = core.withState { state, flags in
            let heard = state.life.cancel()
            if heard != nil { flags.formUnion(atDeadline ? [.cancelled, .expired] : .cancelled) }
            return (heard, !state.attempts.isEmpty)
        }
        guard var heard else { return false }
        HandlerCalls.tell(&heard, ofCancelOf: self, reachesAttempts: leavesAttempts)
        return true
    }

    /// Gives the task its result, and calls the handlers that wait for it.
    ///
    /// - Returns: whether this was the first result. Otherwise nothing has happened.
    @discardableResult
    public func complete(_ result: HTTPResult) -> Bool {
        finish(with: result)
    }

    /// Completes the task with an error.
    ///
    /// The error names the loader that has the task. To fail a task that you have passed on, use
    /// ``HTTPLoader/fail(_:_:response:underlyingError:reason:)``, which names that loader.
    ///
    /// - Returns: whether this was the first result. Otherwise nothing has happened.
    @discardableResult
    public func fail(
        _ code: HTTPError.Code, response: HTTPResponse? = nil, underlyingError: (any Error)? = nil,
        reason: String? = nil
    ) -> Bool {
        let error = HTTPError(
            code, request: request, response: response, underlyingError: underlyingError, reason: reason,
            loader: holderName)
        return complete(.failure(error))
    }

    /// Completes a task that no loader holds any more.
    func abandon() {
        let holder = holderName ?? "The first loader"
        fail(.abandoned, reason: "\(holder) let go of the task without completing it")
    }

    // MARK: Steps

    /// A step of the task's life that is taken with a result.
    private typealias Step = (inout TaskLife, HTTPResult, inout HandlerStack) -> TaskLife.Finish

    /// Finishes the life with a first result.
    private func finish(with result: HTTPResult) -> Bool {
        take({ $0.finish($1, saysCancelled: false, &$2) }, with: result) {
            $0.finish($1, saysCancelled: true, &$2)
        }
    }

    /// Takes a step and does what it leads to; takes `next` with a result that says cancelled, where a cancel came
    /// first.
    @inline(__always)
    private func take(_ step: Step, with result: HTTPResult, next: Step) -> Bool {
        var handlers = HandlerStack()
        var (leavesAttempts, hasDeadline) = (false, false)
        let finish = core.withState { state, flags in
            let finish = step(&state.life, result, &handlers)
            if finish == .won { flags.insert(.completed) }
            leavesAttempts = !state.attempts.isEmpty
            hasDeadline = flags.contains(.hasDeadline)
            return finish
        }
        switch finish {
        case .won:
            if hasDeadline { core.unwatchDeadline() }
            if let parent = core.parent { parent.forget(core) }
            // Attempts that are still under way have lost their purpose.
            if leavesAttempts { core.cancelAttempts() }
            if !handlers.isEmpty { HandlerCalls.tell(&handlers, of: self, result) }
            return true
        case .lost:
            return false
        case .mustPass:
            return self.finish(with: result, passing: handlers)
        case .mustSayCancelled:
            return self.finish(with: stopped(insteadOf: result), by: next)
        }
    }

    @inline(never)
    private func finish(with result: HTTPResult, passing filters: consuming HandlerStack) -> Bool {
        var result = result
        while let filter = filters.pop() { result = filter.filtered(result, of: self) }
        return finish(with: result) { $0.settle($1, saysCancelled: $1.error?.code == stopCode, &$2) }
    }

    /// Takes a step, and takes it again where a cancel came first.
    @inline(never)
    private func finish(with result: HTTPResult, by step: Step) -> Bool {
        take(step, with: result, next: step)
    }

    /// What the result says of a task that was cancelled, depending on what cancelled it.
    private var stopCode: HTTPError.Code { core.flags.contains(.expired) ? .deadlineExceeded : .cancelled }

    private func stopped(insteadOf result: HTTPResult) -> HTTPResult {
        let code = stopCode
        if result.error?.code == code { return result }
        let holder = result.error?.loader ?? holderName
        var reason: String?
        if code == .deadlineExceeded, let deadline = core.deadline {
            reason = "The time for the request, \(deadline.allowance), was over while \(holder ?? "no loader") had it"
        }
        var error = HTTPError(
            code, request: result.request, response: result.response,
            underlyingError: result.error?.underlyingError, reason: reason, loader: holder)
        error.attempts = result.attempts
        return .failure(error)
    }
}
