import Dispatch

extension HTTPLoader {
    /// Resets the chain from this loader on, and calls back when every loader has finished.
    ///
    /// Each call is a reset of its own, also during another one: it has finished when everything that was loaded before the
    /// call has ended.
    ///
    /// - Parameters:
    ///   - queue: where to call back. The default is a global queue, which works while the main thread is blocked.
    ///   - completion: called once.
    @preconcurrency
    public final func reset(on queue: DispatchQueue = .global(), completion: @escaping @Sendable () -> Void) {
        RunningReset { _ in queue.async { completion() } }.begin(at: self)
    }

    /// Resets the chain from this loader on, and returns when every loader has finished.
    ///
    /// If the Swift task that waits is cancelled, this returns at once, and the reset goes on. So a loader may reset its own
    /// chain while a request waits in it: an ``Autocancel`` above ends the request, whose end the reset waits for.
    public final func reset() async {
        let end = Awaited<RunningReset.End?>(nil)
        RunningReset { result in end.change { $0 = result } }.begin(at: self)
        _ = await end.wait { $0 }
    }

    /// Resets the chain from this loader on, and calls back when every loader has finished, or when the time is up.
    ///
    /// A task that ignores its cancel would keep a reset running forever, and a ``ResetGuard`` shut. When the time is up, the
    /// reset is given up: the guard opens, the loaders take tasks again, and the error names those that have not finished.
    /// What they still run is left alone.
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
        RunningReset { result in queue.async { completion(result) } }.begin(at: self, until: (limit, timers))
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
    /// - Throws: ``ResetTimedOut`` when the time is up, or when the Swift task that waits is cancelled; then the reset goes on
    ///   until its time is up.
    public final func reset(
        within limit: Duration, timers: any Timers = SystemTimers.shared
    ) async throws(ResetTimedOut) {
        let end = Awaited<RunningReset.End?>(nil)
        let reset = RunningReset { result in end.change { $0 = result } }
        reset.begin(at: self, until: (limit, timers))
        try (await end.wait { $0 } ?? reset.endNow(limit)).get()
    }
}

/// A reset that is running, and its caller, who is called back once.
private final class RunningReset: Sendable {
    typealias End = Result<Void, ResetTimedOut>

    private let walk = ResetWalk(whole: DispatchGroup())
    private let state: Locked<State>

    private struct State {
        /// Calls back; nil once it has.
        var callBack: (@Sendable (End) -> Void)?
        var timer: (any ScheduledTimer)?
    }

    init(callBack: @escaping @Sendable (End) -> Void) {
        state = Locked(State(callBack: callBack))
    }

    func begin(at loader: HTTPLoader, until end: (limit: Duration, timers: any Timers)? = nil) {
        if let (limit, timers) = end, limit > .zero {
            // Scheduled before the walk, because a loader may block it.
            keep(timers.schedule(after: limit) { self.timeOut(limit) })
        }
        walk.go(on: [loader])
        walk.whole.notify(queue: .global()) { self.takeCallBack()?(.success(())) }
        if let limit = end?.limit, limit <= .zero { timeOut(limit) }
    }

    /// How the reset ends if it may take no longer than it has.
    func endNow(_ limit: Duration) -> End {
        if walk.isFinished { return .success(()) }
        return .failure(
            ResetTimedOut(
                limit: limit, unfinished: walk.unfinished.map { ResetTimedOut.Unfinished($0) },
                unreached: walk.unreached.map(\.name).sorted()))
    }

    private func timeOut(_ limit: Duration) {
        // Before the walk ends, because its end would call back with a success.
        guard let callBack = takeCallBack() else { return }
        let end = endNow(limit)
        walk.giveUp()
        callBack(end)
    }

    private func takeCallBack() -> (@Sendable (End) -> Void)? {
        let (callBack, timer) = state.withLock { state in
            (replace(&state.callBack, with: nil), replace(&state.timer, with: nil))
        }
        timer?.cancel()
        return callBack
    }

    /// Keeps the timer of the limit, or cancels it if the reset is over.
    private func keep(_ timer: any ScheduledTimer) {
        let isRunning = state.withLock { state in
            guard state.callBack != nil else { return false }
            state.timer = timer
            return true
        }
        if !isRunning { timer.cancel() }
    }
}
