/// What retries a chain may make altogether, so that they can never multiply an outage.
///
/// A server that fails under its load must not be asked three times as often because it fails. So each request pays for a
/// fifth of a retry, and retries are paid from what the requests of the last ten seconds have saved; ten a second are
/// always allowed, so that a quiet program can retry at all. Once that is spent, failures are final until more requests
/// come by.
///
/// ``Retry`` has a budget of its own unless it is given one. Loaders that talk to the same server may share one:
///
/// ```swift
/// let budget = RetryBudget()
/// let users = Retry(strategy: strategy, budget: budget) --> terminal
/// let photos = Retry(strategy: strategy, budget: budget) --> otherTerminal
/// ```
///
/// Only requests that have a strategy count. A retry counts when it is decided, also if it is cancelled in its delay.
public final class RetryBudget: Sendable {
    private let timers: any Timers
    private let state: Guarded<RetryBudgetState>?

    /// A budget that never ends; for tests, and for servers that no number of retries can harm.
    public static let unlimited = RetryBudget(nil, SystemTimers.shared)

    private init(_ state: RetryBudgetState?, _ timers: any Timers) {
        self.timers = timers
        self.state = state.map(Guarded.init)
    }

    /// Makes a budget.
    ///
    /// - Parameters:
    ///   - ratio: how many retries each request pays for.
    ///   - minimumPerSecond: how many retries are allowed in each second however few requests there are.
    ///   - window: for how long requests and retries count.
    ///   - timers: the clock.
    public convenience init(
        ratio: Double = 0.2, minimumPerSecond: Int = 10, window: Duration = .seconds(10),
        timers: any Timers = SystemTimers.shared
    ) {
        self.init(RetryBudgetState(ratio: ratio, minimumPerSecond: minimumPerSecond, window: window), timers)
    }

    /// Notes a request, which pays for a part of a retry.
    public func noteRequest() {
        guard let state else { return }
        let now = timers.now
        state.withLock { $0.noteRequest(at: now) }
    }

    /// Takes one retry from the budget, and answers whether there was one.
    public func takeRetry() -> Bool {
        guard let state else { return true }
        let now = timers.now
        return state.withLock { $0.takeRetry(at: now) }
    }

    /// How many retries could be made now; nil where there is no limit.
    public var remaining: Int? {
        guard let state else { return nil }
        let now = timers.now
        return state.withLock { $0.remaining(at: now) }
    }
}
