import Dispatch

extension HTTPLoader {
    /// Resets the chain from this loader on, and calls back when every loader has finished.
    ///
    /// A call during a reset of this loader joins that reset, and is called back with it.
    ///
    /// - Parameters:
    ///   - queue: where to call back. The default is a global queue, which works while the main thread is blocked.
    ///   - completion: called once.
    @preconcurrency
    public final func reset(on queue: DispatchQueue = .global(), completion: @escaping @Sendable () -> Void) {
        join(ResetCaller(on: queue) { _ in completion() })
    }

    /// Resets the chain from this loader on, and returns when every loader has finished.
    public final func reset() async {
        await withUnsafeContinuation { continuation in
            reset { continuation.resume() }
        }
    }

    /// Resets the chain from this loader on, and calls back when every loader has finished, or when the time is up.
    ///
    /// A task that ignores its cancel would keep a reset running forever, and a ``ResetGuard`` shut. When the time is up, the
    /// reset is given up: the guard opens, the loaders take tasks again, and the error names those that have not finished.
    /// What they still run is left alone.
    ///
    /// A call during a reset of this loader joins that reset. The reset is given up only when the time of all callers is up,
    /// so a caller without a limit keeps it running; the others are called back in time.
    ///
    /// - Parameters:
    ///   - limit: how long the reset may take; zero or less for what can be done at once.
    ///   - queue: where to call back. The default is a global queue, which works while the main thread is blocked.
    ///   - timers: the clock of the limit.
    ///   - completion: called once.
    @preconcurrency
    public final func reset(
        within limit: Duration, on queue: DispatchQueue = .global(), timers: any Timers = SystemTimers.shared,
        completion: @escaping @Sendable (Result<Void, ResetTimedOut>) -> Void
    ) {
        join(ResetCaller(on: queue, completion), until: (limit, timers))
    }

    /// Resets the chain from this loader on, and returns when every loader has finished.
    ///
    /// ```swift
    /// do {
    ///     try await chain.reset(within: .seconds(5))
    /// } catch {
    ///     print(error)  // Who has not finished.
    /// }
    /// ```
    ///
    /// See ``reset(within:on:timers:completion:)``.
    ///
    /// - Throws: ``ResetTimedOut`` when the time is up.
    public final func reset(
        within limit: Duration, timers: any Timers = SystemTimers.shared
    ) async throws(ResetTimedOut) {
        let result = await withUnsafeContinuation { continuation in
            reset(within: limit, timers: timers) { continuation.resume(returning: $0) }
        }
        try result.get()
    }

    private func join(_ caller: ResetCaller, until end: (limit: Duration, timers: any Timers)? = nil) {
        let walk = ResetWalk(whole: DispatchGroup())
        let isFirst = RunningResets.join(caller, at: self, walk)
        if let (limit, timers) = end, limit > .zero {
            // Scheduled before the walk, because a loader may block it.
            caller.keep(timers.schedule(after: limit) { self.timeOut(caller, after: limit) })
        }
        if isFirst {
            walk.go(on: [self])
            walk.whole.notify(queue: .global()) {
                for caller in RunningResets.end(walk, at: self) { caller.call(.success(())) }
            }
        }
        if let limit = end?.limit, limit <= .zero { timeOut(caller, after: limit) }
    }

    private func timeOut(_ caller: ResetCaller, after limit: Duration) {
        guard let (walk, isLast) = RunningResets.leave(caller, at: self) else { return }
        if walk.isFinished { return caller.call(.success(())) }
        let error = ResetTimedOut(limit: limit, unfinished: walk.unfinished.map { ResetTimedOut.Unfinished($0) })
        if isLast { walk.giveUp() }
        caller.call(.failure(error))
    }
}

/// A caller that waits for a reset.
private final class ResetCaller: Sendable {
    private let queue: DispatchQueue
    private let completion: @Sendable (Result<Void, ResetTimedOut>) -> Void
    private let alarm = Locked((isOver: false, timer: (any ScheduledTimer)?.none))

    init(on queue: DispatchQueue, _ completion: @escaping @Sendable (Result<Void, ResetTimedOut>) -> Void) {
        self.queue = queue
        self.completion = completion
    }

    /// Keeps the timer of the limit, or cancels it if the caller waits no longer.
    func keep(_ timer: any ScheduledTimer) {
        let isOver = alarm.withLock { alarm in
            if !alarm.isOver { alarm.timer = timer }
            return alarm.isOver
        }
        if isOver { timer.cancel() }
    }

    /// Calls back; to be called once, by what has taken the caller out of the list.
    func call(_ result: Result<Void, ResetTimedOut>) {
        let timer = alarm.withLock { replace(&$0, with: (true, nil)).timer }
        timer?.cancel()
        queue.async { self.completion(result) }
    }
}

/// The resets that are running in the process.
private enum RunningResets {
    private static let all = Locked(ResetBook<ResetWalk, ResetCaller>())

    /// Adds a caller, and returns whether its walk is to begin; otherwise another one is under way.
    static func join(_ caller: ResetCaller, at loader: HTTPLoader, _ walk: ResetWalk) -> Bool {
        let running = all.withLock { $0.walk(at: ObjectIdentifier(loader)) }
        // A walk that is over from now on has ended after the call, and may be joined.
        let finished = running?.isFinished ?? false ? running : nil
        let (begins, told) = all.withLock {
            $0.join(caller, at: ObjectIdentifier(loader), orBegin: walk, insteadOf: finished)
        }
        for caller in told { caller.call(.success(())) }
        return begins
    }

    /// Removes a caller that no longer waits; nil if it has been called back.
    static func leave(_ caller: ResetCaller, at loader: HTTPLoader) -> (walk: ResetWalk, isLast: Bool)? {
        all.withLock { $0.leave(caller, at: ObjectIdentifier(loader)) }
    }

    /// Removes all callers of a walk that has ended.
    static func end(_ walk: ResetWalk, at loader: HTTPLoader) -> [ResetCaller] {
        all.withLock { $0.end(walk, at: ObjectIdentifier(loader)) }
    }
}
