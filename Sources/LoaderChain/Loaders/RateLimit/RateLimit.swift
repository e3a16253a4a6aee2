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
/// Tasks wait for their tokens in the order in which they came. One whose turn would come after its request's
/// ``HTTPRequest/deadline`` fails at once with ``HTTPError/Code/deadlineExceeded``. A cancelled one leaves at once, and a reset completes all
/// that wait as ``HTTPError/Code/resetInProgress``. It does not fill the bucket, since the server will not forget either.
public final class RateLimit: HTTPLoader, @unchecked Sendable {
    private let timers: any Timers
    private let isPerHost: Bool
    private let state: Locked<RateLimitState<RateLimitWaiter>>

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
        state = Locked(RateLimitState(rate, waiting: waiting, at: timers.now))
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
        set { setRate(newValue)() }
    }

    /// Sets ``rate``, also under a lock of the caller; what is returned lets tasks pass, outside of it.
    package func setRate(_ rate: Rate) -> () -> Void {
        let now = timers.now
        let steps = state.withLock { $0.change(to: rate, at: now) }
        return { for (origin, step) in steps { self.take(step, for: origin) } }
    }

    /// How many tasks wait.
    public var waiting: Int { state.withLock { $0.waiting } }

    /// How many tasks have come since the limit was made.
    package var arrivals: UInt64 { state.withLock { $0.arrivals } }

    /// Passes a task on when there is a token for it.
    public override func load(task: HTTPTask) {
        let origin = isPerHost ? task.request.origin : nil
        let now = timers.now
        // Most pass, and need nothing to wait with.
        switch state.withLock({ $0.admit(nil, for: origin, at: now) }) {
        case .passes: super.load(task: task)
        case .refused(let delay): refuse(task, delay)
        case .mustWait, .waits, .tooLate: queue(task, for: origin, at: now)
        }
    }

    private func queue(_ task: HTTPTask, for origin: HTTPOrigin?, at now: TimerInstant) {
        let waiter = RateLimitWaiter(task, in: origin, of: self)
        let deadline = task.deadline?.instant(on: timers, at: now) ?? .never
        // The queue may have emptied meanwhile, or filled.
        switch state.withLock({ $0.admit(waiter, for: origin, until: deadline, at: now) }) {
        case .waits(let place, let setting):
            waiter.place = place
            task.addObserver(waiter)
            if let setting { set(setting, for: origin) }
        case .passes, .mustWait:
            waiter.end()
            super.load(task: task)
        case .refused(let delay):
            waiter.end()
            refuse(task, delay)
        case .tooLate(let delay):
            waiter.end()
            fail(task, .deadlineExceeded, reason: "Its turn would come in \(delay), which is after its deadline")
        }
    }

    private func refuse(_ task: HTTPTask, _ delay: Duration) {
        fail(task, .rateLimited, reason: "Too many requests came at once; the next may pass in \(delay)")
    }

    /// Ends the waiting of all tasks.
    public override func reset(with group: DispatchGroup) {
        for (_, step) in state.withLock({ $0.removeAll() }) {
            step.timer?.cancel()
            for task in step.passing.compactMap({ $0.end() }) {
                fail(task, .resetInProgress, reason: "A reset ended the wait for the task's turn")
            }
        }
        super.reset(with: group)
    }

    /// The rate, and how many tasks wait.
    public override var details: String {
        state.withLock { isPerHost ? "\($0.rate) per host, hosts \($0.hosts)" : "\($0.rate)" } + ", waiting \(waiting)"
    }

    /// How many tasks wait, and with limits per host, how many hosts there are.
    public override var readings: [LoaderReading] {
        let (waiting, hosts) = state.withLock { ($0.waiting, $0.hosts) }
        let waits = LoaderReading(
            "loaderchain.rate_limit.waiting", .level, waiting, unit: "{request}",
            help: "How many requests wait for their turn")
        guard isPerHost else { return [waits] }
        return [
            waits,
            LoaderReading(
                "loaderchain.rate_limit.hosts", .level, hosts, unit: "{host}",
                help: "How many hosts have a limit of their own"),
        ]
    }

    // MARK: Waiting

    /// Takes a waiter out of its lane, and answers whether it still waited there.
    func remove(_ waiter: RateLimitWaiter) -> Bool {
        let left = state.withLock { $0.withLane(of: waiter.lane) { $0.leave(waiter.place, among: &$1) } }
        left?.timer?.cancel()
        return left != nil
    }

    private func set(_ setting: RateLimitLane<RateLimitWaiter>.Setting, for origin: HTTPOrigin?) {
        let timer = timers.schedule(at: setting.deadline) { self.ring(setting.number, for: origin) }
        state.withLock { $0.withLane(of: origin) { lane, _ in lane.keep(timer, of: setting.number) } }?.cancel()
    }

    private func ring(_ number: UInt64, for origin: HTTPOrigin?) {
        let now = timers.now
        let step = state.withLock { $0.withLane(of: origin) { $0.ring(number, at: now, among: &$1) } }
        if let step { take(step, for: origin) }
    }

    private func take(_ step: RateLimitLane<RateLimitWaiter>.Step, for origin: HTTPOrigin?) {
        step.timer?.cancel()
        // Set before any passes, because the loaders below may take their time.
        if let setting = step.setting { set(setting, for: origin) }
        for task in step.passing.compactMap({ $0.end() }) { super.load(task: task) }
    }
}
