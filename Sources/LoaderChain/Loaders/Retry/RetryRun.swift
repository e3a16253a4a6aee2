import Dispatch
import LoaderChainPlatformFoundation

/// One task on its way through ``Retry``, from its first attempt to its result.
///
/// It observes the attempts, one after the other. The next attempt is made when a pause begins, not when it ends, so
/// that a cancel of the task reaches the attempt, and through it the pause.
///
/// It keeps the task, and keeps an attempt only during a pause, while nothing else holds it.
final class RetryRun: HTTPTaskObserver, @unchecked Sendable {
    /// Its position among the runs of its loader, whose lock protects this.
    var place = QueuePlace.nowhere

    private let retry: Retry
    private let task: HTTPTask
    private let strategy: any HTTPRetryStrategy
    private let state = InPlaceLocked(RetryState<Pause, DispatchGroup>())

    /// The attempt that waits, and why there is one.
    private struct Pause: Sendable {
        let attempt: HTTPTask
        let result: HTTPResult
        let isMeasured: Bool
        let alarm = Alarm()
    }

    init(_ task: HTTPTask, by strategy: any HTTPRetryStrategy, _ retry: Retry) {
        self.task = task
        self.strategy = strategy
        self.retry = retry
    }

    var isPausing: Bool { state.withLock { $0.isPausing } }

    func begin() {
        let attempt = task.makeAttempt()
        attempt.addObserver(self)
        retry.pass(attempt)
    }

    private func end(with result: HTTPResult) {
        task.complete(result)
        // After the completion, so that a reset that comes meanwhile waits for it.
        let groups = state.withLock { $0.end() }
        retry.forget(self)
        for group in groups { group.leave() }
    }

    // MARK: The end of attempts

    func task(_ attempt: HTTPTask, didCompleteWith result: HTTPResult) {
        let result = result.numbered(state.withLock { $0.attempts })
        guard let delay = delay(after: result) else { return end(with: result) }
        let next = task.makeAttempt()
        if delay > .zero {
            pause(next, for: delay, after: result)
        } else if state.withLock({ $0.goOn() }) {
            next.addObserver(self)
            retry.pass(next)
        } else {
            end(with: result)
        }
    }

    func taskWasCancelled(_ attempt: HTTPTask) {
        // A running attempt is completed by the loader that has it.
        guard let pause = state.withLock({ $0.interrupt() }) else { return }
        end(pause)
        retry.fail(pause.attempt, .cancelled)
    }

    // MARK: Deciding

    /// How long to wait for the next attempt; nil if this result is the last.
    private func delay(after result: HTTPResult) -> Duration? {
        // A task that was cancelled or completed needs no other attempt.
        guard !task.isCancelled, !task.isCompleted, state.withLock({ $0.mayGoOn }) else { return nil }
        if let code = result.error?.code, ResultMeaning(code) == .stopped { return nil }
        // Neither infinity nor what is not a number.
        guard let seconds = strategy.retryDelay(for: result), seconds < .infinity else { return nil }

        let request = task.request
        guard request.isRepeatable else { return suppress(.notRepeatable) }
        guard request.body.canBeSentAgain else { return suppress(.body) }

        let longest: TimeInterval = 1_000_000_000
        let delay = max(.seconds(min(max(0, seconds), longest)), retry.delayAsked(by: result.response))
        if let deadline = task.deadline, deadline.remaining <= delay { return suppress(.deadline) }
        guard retry.budget.takeRetry(isThrottled: result.isThrottled) else { return suppress(.budget) }
        retry.retries.increment()
        return delay
    }

    private func suppress(_ reason: SuppressedRetry) -> Duration? {
        retry.suppressed[reason]?.increment()
        return nil
    }

    // MARK: Pauses

    private func pause(_ attempt: HTTPTask, for delay: Duration, after result: HTTPResult) {
        // Nobody reads the body of this response, which may go on arriving.
        let pause = Pause(attempt: attempt, result: result.withoutChunks, isMeasured: task.beginWait())
        guard let number = state.withLock({ $0.pause(pause) }) else {
            end(pause)
            return end(with: result)
        }
        attempt.addObserver(self)
        let due = retry.timers.now.advanced(by: delay)
        pause.alarm.set(on: retry.timers, for: { state.withLock { $0.isPausing(number) } ? due : nil }) {
            self.resume(number)
        }
    }

    private func end(_ pause: Pause) {
        pause.alarm.end()
        if pause.isMeasured { task.endWait() }
    }

    private func resume(_ number: Int) {
        guard let pause = state.withLock({ $0.resume(number) }) else { return }
        end(pause)
        retry.pass(pause.attempt)
    }

    // MARK: Resets

    /// Prevents further attempts, and lets the group wait for the running one.
    func reset(with group: DispatchGroup) {
        group.enter()
        switch state.withLock({ $0.reset(group) }) {
        case .isOver: group.leave()
        case .waits(nil): break
        case .waits(let pause?):
            end(pause)
            retry.fail(
                pause.attempt, .resetInProgress, response: pause.result.response,
                underlyingError: pause.result.error, reason: "A reset ended the wait for the next attempt")
        }
    }

    func giveUpReset(of group: DispatchGroup) {
        for group in state.withLock({ $0.giveUp { $0 === group } }) { group.leave() }
    }
}

/// The state of a retried task, decided without threads, clocks or callbacks.
///
/// The phases:
/// - **running**: the loaders below have an attempt, or have just returned it.
/// - **pausing**: the next attempt exists and waits for its start.
/// - **over**: the task has its result. Nothing changes any more.
///
/// Every method changes the state and returns the work to do, which the owner does after it has unlocked.
struct RetryState<Pause: Sendable, Waiter: Sendable>: Sendable {
    private enum Phase {
        case running
        case pausing(Pause)
        case over
    }

    private var phase = Phase.running
    /// How many pauses there were; the last of them has this number.
    private var pauses = 0
    private var waiters: [Waiter] = []
    private(set) var attempts = 1
    private var isReset = false

    var isPausing: Bool {
        if case .pausing = phase { true } else { false }
    }

    var mayGoOn: Bool {
        if case .running = phase { !isReset } else { false }
    }

    // MARK: Attempts

    /// Starts the next attempt without a pause; returns whether that is possible.
    mutating func goOn() -> Bool {
        guard mayGoOn else { return false }
        attempts += 1
        return true
    }

    /// The task has its result; returns the resets that waited for it.
    mutating func end() -> [Waiter] {
        phase = .over
        return replace(&waiters, with: [])
    }

    // MARK: Pauses

    /// Starts a pause; returns its number, or nil if there is no next attempt.
    mutating func pause(_ pause: Pause) -> Int? {
        guard mayGoOn else { return nil }
        phase = .pausing(pause)
        pauses += 1
        return pauses
    }

    func isPausing(_ number: Int) -> Bool { isPausing && number == pauses }

    /// Ends a pause that is over, to start the attempt; nil if it has ended otherwise.
    mutating func resume(_ number: Int) -> Pause? {
        guard isPausing(number), let pause = interrupt() else { return nil }
        attempts += 1
        return pause
    }

    /// Ends a pause whose attempt is to be completed without having run; nil if there is none.
    mutating func interrupt() -> Pause? {
        guard case .pausing(let pause) = phase else { return nil }
        phase = .running
        return pause
    }

    // MARK: Resets

    enum Reset {
        case isOver
        /// The waiter is kept until the task has its result. If there was a pause, it has ended.
        case waits(Pause?)
    }

    /// Keeps a reset until the task has its result, and prevents further attempts.
    mutating func reset(_ waiter: Waiter) -> Reset {
        if case .over = phase { return .isOver }
        isReset = true
        waiters.append(waiter)
        return .waits(interrupt())
    }

    /// Forgets the resets that fulfil a condition, and returns them; there are no further attempts all the same.
    mutating func giveUp(where isGivenUp: (Waiter) -> Bool) -> [Waiter] { waiters.take(where: isGivenUp) }
}
