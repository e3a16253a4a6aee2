/// Ending it.
extension HTTPTask {
    /// Asks whoever has the task to stop it.
    ///
    /// - Returns: whether this was the first cancel, and came before any result.
    @discardableResult
    public func cancel() -> Bool {
        withOwner { owner in
            let flags = owner.lock.acquire()
            let heard = owner.life.cancel()
            let leavesAttempts = !owner.attempts.isEmpty
            owner.lock.release(heard == nil ? flags : flags.union(.cancelled))
            guard let heard else { return false }
            ThreadLine.tell(heard, ofCancelOf: self, reachesAttempts: leavesAttempts)
            return true
        }
    }

    /// Gives the task its result and tells everybody who waits for it.
    ///
    /// - Returns: whether this was the first result. Otherwise nothing has happened.
    @discardableResult
    public func complete(_ result: HTTPResult) -> Bool {
        withOwner { $0.finish(with: result, through: self) }
    }

    /// Completes the task with an error of its request.
    ///
    /// The error names the loader that has the task. To fail one that was passed on, use
    /// ``HTTPLoader/fail(_:_:response:underlyingError:reason:)``, which names itself.
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

    /// Completes a task that nobody holds any more.
    func abandon() {
        let by = holderName ?? "the first loader that it was given to"
        fail(.abandoned, reason: "Nobody completed the task, and nobody holds it any more: \(by) let go of it")
    }

    // MARK: What a step of the life leads to

    /// Finishes the life, on behalf of the `object` that was told to.
    private func finish(with result: HTTPResult, through object: HTTPTask) -> Bool {
        let flags = lock.acquire()
        return carryOut(life.finish(result, saysCancelled: false), with: result, through: object, flags) {
            $0.finish($1, saysCancelled: true)
        }
    }

    /// Does what `finish` says, opens the lock, and takes the `next` step where there is to be one.
    @inline(__always)
    private func carryOut(
        _ finish: TaskLife.Finish, with result: HTTPResult, through object: HTTPTask, _ flags: TinyLock.Flags,
        next: (inout TaskLife, HTTPResult) -> TaskLife.Finish
    ) -> Bool {
        switch finish {
        case .won(let handlers):
            let leavesAttempts = !attempts.isEmpty
            lock.release(flags.union(.completed))
            if let parent { parent.forget(self) }
            // What still works for this task works for nobody now.
            if leavesAttempts { cancelAttempts() }
            if !handlers.isEmpty { ThreadLine.tell(handlers, of: object, result) }
            return true
        case .lost:
            lock.release(flags)
            return false
        case .mustPass(let filters):
            lock.release(flags)
            return self.finish(with: result, passing: filters, through: object)
        case .mustSayCancelled:
            lock.release(flags)
            return self.finish(with: cancelled(insteadOf: result), through: object, by: next)
        }
    }

    @inline(never)
    private func finish(
        with result: HTTPResult, passing filters: consuming HandlerStack, through object: HTTPTask
    ) -> Bool {
        var result = result
        while let filter = filters.pop() { result = filter.filtered(result, of: object) }
        return finish(with: result, through: object) { $0.settle($1, saysCancelled: $1.error?.code == .cancelled) }
    }

    /// Takes a `step`, as often as the answer asks for something else.
    @inline(never)
    private func finish(
        with result: HTTPResult, through object: HTTPTask, by step: (inout TaskLife, HTTPResult) -> TaskLife.Finish
    ) -> Bool {
        let flags = lock.acquire()
        return carryOut(step(&life, result), with: result, through: object, flags, next: step)
    }

    private func cancelled(insteadOf result: HTTPResult) -> HTTPResult {
        if result.error?.code == .cancelled { return result }
        return .failure(
            HTTPError(
                .cancelled, request: result.request, response: result.response,
                underlyingError: result.error?.underlyingError, loader: result.error?.loader ?? holderName))
    }
}
