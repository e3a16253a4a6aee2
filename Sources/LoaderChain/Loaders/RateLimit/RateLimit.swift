import Dispatch

/// Lets requests pass at an even pace, and no faster.
///
/// ```swift
/// let limit = RateLimit(requests: 10, per: .seconds(1))
/// let chain = Retry(strategy: strategy) --> CircuitBreaker() --> limit --> terminal
/// ```
///
/// **What it is for.** Servers that count the requests of each client, and refuse those who ask too often. It is a bucket
/// of tokens: in any stretch of time, wherever that begins, no more requests pass than the burst and what the rate allows
/// for its length. With a burst of 1, the default, requests are evenly spaced. A larger burst lets that many pass at once
/// after a quiet time.
///
/// **Where it belongs.** Near the terminal, below whatever makes requests of its own or again: an attempt of ``Retry``
/// takes a token like any other. A ``CircuitBreaker`` goes above it, so that what it refuses takes none.
///
/// Tasks wait for their tokens in the order in which they came. A cancelled one leaves at once, and a reset completes all
/// that wait as ``HTTPError/Code/resetInProgress``. It does not fill the bucket, since the server will not forget either.
public final class RateLimit: HTTPLoader, @unchecked Sendable {
    private let timers: any Timers
    private let isPerHost: Bool
    private let state: Guarded<RateLimitState<RateLimitWaiter>>

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - rate: how many requests may pass in what time.
    ///   - perHost: whether each host has a limit of its own; by default there is one for all.
    ///   - waiting: what becomes of a request that comes too early; by default up to 1,000 wait, and one more fails.
    ///   - timers: the clock, and what waits.
    public init(
        _ rate: Rate, perHost: Bool = false, waiting: Waiting = .queue(maximum: 1_000),
        timers: any Timers = SystemTimers.shared
    ) {
        self.timers = timers
        isPerHost = perHost
        state = Guarded(RateLimitState(rate, waiting: waiting, at: timers.now))
    }

    /// Makes a limit of so many requests per period; see ``init(_:perHost:waiting:timers:)``.
    public convenience init(
        requests: Int, per period: Duration, burst: Int = 1, perHost: Bool = false,
        waiting: Waiting = .queue(maximum: 1_000), timers: any Timers = SystemTimers.shared
    ) {
        self.init(
            Rate(requests: requests, per: period, burst: burst), perHost: perHost, waiting: waiting, timers: timers)
    }

    /// How many requests may pass in what time; it can be changed at any time, also for those who wait.
    public var rate: Rate {
        get { state.withLock { $0.rate } }
        set {
            let now = timers.now
            for (host, step) in state.withLock({ $0.change(to: newValue, at: now) }) { take(step, in: host) }
        }
    }

    /// How many tasks wait.
    public var waiting: Int { state.withLock { $0.waiting } }

    /// Passes a task on when there is a token for it.
    public override func load(task: HTTPTask) {
        let host = isPerHost ? task.request.hostKey : nil
        let now = timers.now
        // Most pass, and need nothing to wait with.
        var admission = state.withLock { $0.admit(nil, for: host, at: now) }
        if case .waits = admission {
            let waiter = RateLimitWaiter(task, for: host, at: self)
            admission = state.withLock { $0.admit(waiter, for: host, at: now) }
            // Otherwise the line has emptied meanwhile, or filled, and nobody else knows the waiter.
            if case .waits = admission { task.addObserver(waiter) } else { _ = waiter.takeTask() }
        }
        switch admission {
        case .passes: super.load(task: task)
        case .waits(let setting): if let setting { set(setting, in: host) }
        case .refused(let delay):
            fail(task, .rateLimited, reason: "Too many requests came at once; the next may pass in \(delay)")
        }
    }

    /// Ends the waiting of all tasks.
    public override func reset(with group: DispatchGroup) {
        for (_, step) in state.withLock({ $0.removeAll() }) {
            step.timer?.cancel()
            for task in step.passing.compactMap({ $0.takeTask() }) {
                fail(task, .resetInProgress, reason: "A reset ended the wait for the task's turn")
            }
        }
        super.reset(with: group)
    }

    /// The rate, and how many tasks wait.
    public override var details: String {
        state.withLock { isPerHost ? "\($0.rate) per host, hosts \($0.hosts)" : "\($0.rate)" } + ", waiting \(waiting)"
    }

    // MARK: Waiting

    /// Takes a waiter out of its line, and answers whether it still stood there.
    func removeFromLine(_ waiter: RateLimitWaiter) -> Bool {
        guard let rung = state.withLock({ $0.withLane(of: waiter.host) { $0.leave(waiter) } }) else { return false }
        rung.timer?.cancel()
        _ = waiter.takeTask()
        return true
    }

    private func set(_ setting: RateLimitLane<RateLimitWaiter>.Setting, in host: String?) {
        let timer = timers.schedule(at: setting.deadline) { self.ring(setting.number, in: host) }
        state.withLock { $0.withLane(of: host) { $0.keep(timer, of: setting.number) } }?.cancel()
    }

    private func ring(_ number: UInt64, in host: String?) {
        let now = timers.now
        guard let step = state.withLock({ $0.withLane(of: host) { $0.ring(number, at: now) } }) else { return }
        take(step, in: host)
    }

    private func take(_ step: RateLimitLane<RateLimitWaiter>.Step, in host: String?) {
        step.timer?.cancel()
        // Set before anybody passes, because the loaders below may take their time.
        if let setting = step.setting { set(setting, in: host) }
        for task in step.passing.compactMap({ $0.takeTask() }) { super.load(task: task) }
    }
}
