import Dispatch

/// Lets requests pass at an even pace, and no faster.
///
/// ```swift
/// let limit = RateLimit(requests: 10, per: .seconds(1))
/// let chain = Retry(strategy) --> CircuitBreaker() --> limit --> terminal
/// ```
///
/// **What it is for.** Servers that count the requests of each client, and refuse those that ask too often. It is a token
/// bucket: in any stretch of time, no more requests pass than the burst and what the rate allows for its length. With a burst
/// of 1, the default, requests are evenly spaced. A larger burst lets that many pass at once after a quiet time.
///
/// **Where it belongs.** Near the terminal, below every loader that makes requests of its own or repeats them: an attempt of
/// ``Retry`` takes a token like any other request. A ``CircuitBreaker`` goes above it, so that the requests that it refuses
/// take no token.
///
/// Tasks wait for their tokens in the order in which they came. A task whose turn would come after its request's
/// ``HTTPRequest/deadline`` fails at once with ``HTTPError/Code/deadlineExceeded``. A cancelled task leaves at once, and a
/// reset completes all that wait as ``HTTPError/Code/resetInProgress``. A reset does not fill the bucket, because the server
/// does not forget the requests either.
public final class RateLimit: HTTPLoader, @unchecked Sendable {
    private let timers: any Timers
    private let isPerHost: Bool
    private let state: Locked<RateLimitState<RateLimitWaiter>>

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - rate: the number of requests that may pass per period.
    ///   - perHost: whether each host has a limit of its own; by default there is one for all.
    ///   - waiting: the treatment of a request that comes too early; by default up to 1,000 wait, and further ones fail.
    ///   - timers: the clock and its timers.
    public init(
        _ rate: Rate, perHost: Bool = false, waiting: Waiting = .queue(maximum: 1_000),
        timers: any Timers = SystemTimers.shared
    ) {
        self.timers = timers
        isPerHost = perHost
        state = Locked(RateLimitState(rate, waiting: waiting, at: timers.now))
    }

    /// Makes a limit of `requests` per period; see ``init(_:perHost:waiting:timers:)``.
    public convenience init(
        requests: Int, per period: Duration, burst: Int = 1, perHost: Bool = false,
        waiting: Waiting = .queue(maximum: 1_000), timers: any Timers = SystemTimers.shared
    ) {
        self.init(
            Rate(requests: requests, per: period, burst: burst), perHost: perHost, waiting: waiting, timers: timers)
    }

    /// The number of requests that may pass per period; it can be changed at any time, also for tasks that wait.
    public var rate: Rate {
        get { state.withLock { $0.rate } }
        set {
            let now = timers.now
            let steps = state.withLock { $0.change(to: newValue, at: now) }
            for (origin, step) in steps { take(step, for: origin) }
        }
    }

    /// The number of tasks that wait.
    public var waiting: Int { state.withLock { $0.waiting } }

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
        case .waits(let place, let alarm):
            waiter.place = place
            task.addObserver(waiter)
            if let alarm { set(alarm, for: origin) }
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
        for (origin, step) in state.withLock({ $0.removeAll() }) {
            set(step.alarm, for: origin)
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
    fileprivate func remove(_ waiter: RateLimitWaiter) -> Bool {
        let left = state.withLock { $0.withLane(of: waiter.lane) { $0.leave(waiter.place, among: &$1) } }
        if let left, left.isLast { set(left.alarm, for: waiter.lane) }
        return left != nil
    }

    /// Sets the alarm of a lane for its next token, if any wait for it.
    private func set(_ alarm: Alarm, for origin: HTTPOrigin?) {
        let now = timers.now
        let due = { self.state.withLock { $0.withLane(of: origin) { lane, _ in lane.alarmTime(at: now) } } }
        alarm.set(on: timers, for: due) {
            let now = self.timers.now
            let step = self.state.withLock { $0.withLane(of: origin) { $0.step(at: now, among: &$1) } }
            if let step { self.take(step, for: origin) }
        }
    }

    private func take(_ step: RateLimitLane<RateLimitWaiter>.Step, for origin: HTTPOrigin?) {
        // Set before any passes, because the loaders below may take their time.
        set(step.alarm, for: origin)
        for task in step.passing.compactMap({ $0.end() }) { super.load(task: task) }
    }
}

extension RateLimit {
    /// The number of requests that may pass per period.
    ///
    /// Out-of-range values are clamped, so remotely configured rates are safe. There is no rate of zero; to stop all requests,
    /// set the limit of a ``Throttle`` to 0.
    public struct Rate: Hashable, Sendable {
        /// The number of requests that may pass in each period in the long run, at least 1.
        public let requests: Int
        /// The number of requests that may pass at once after a quiet time, at least 1.
        public let burst: Int
        let nanosecondsPerPeriod: Int64

        /// The period, at least a nanosecond.
        public var period: Duration { .nanoseconds(nanosecondsPerPeriod) }

        /// Makes a rate of `requests` per period.
        public init(requests: Int, per period: Duration, burst: Int = 1) {
            // No product of a time and a count of these overflows.
            let most = Int(Int32.max)
            self.requests = min(max(1, requests), most)
            self.burst = min(max(1, burst), most)
            nanosecondsPerPeriod = max(1, period.saturatedNanoseconds)
        }
    }

    /// The treatment of a request that comes too early.
    public enum Waiting: Hashable, Sendable {
        /// The request waits for its turn, unless `maximum` requests are already queued: then it fails as
        /// ``HTTPError/Code/rateLimited``.
        ///
        /// If there is a limit per host, `maximum` requests may wait for each host.
        case queue(maximum: Int)
        /// The request fails at once, as ``HTTPError/Code/rateLimited``.
        case refuse

        var maximum: Int {
            switch self {
            case .queue(let maximum): maximum
            case .refuse: 0
            }
        }
    }
}

extension RateLimit.Rate: CustomStringConvertible {
    /// The rate in words, as in `10 per 1.0 seconds, burst 1`.
    public var description: String { "\(requests) per \(period), burst \(burst)" }
}

/// A task that waits for its token, and leaves its queue when it is cancelled or completed before.
private final class RateLimitWaiter: HTTPTaskObserver, @unchecked Sendable {
    /// The host whose lane it waits in; nil for the common one.
    let lane: HTTPOrigin?
    /// Its place in the lane; set before it observes the task.
    var place = QueuePlace.nowhere

    private let limit: RateLimit
    private let isMeasured: Bool
    // Written before another object knows of it, and taken once, by whatever has taken this waiter out of its lane.
    private var task: HTTPTask?

    init(_ task: HTTPTask, in lane: HTTPOrigin?, of limit: RateLimit) {
        self.lane = lane
        self.limit = limit
        self.task = task
        isMeasured = task.beginWait()
    }

    /// Ends the wait, and returns the task; called once, by whatever has taken this waiter out of its lane.
    @discardableResult
    func end() -> HTTPTask? {
        if isMeasured { task?.endWait() }
        return replace(&task, with: nil)
    }

    func taskWasCancelled(_ task: HTTPTask) {
        if limit.remove(self), let task = end() { limit.fail(task, .cancelled) }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        // A loader above has ended it: the next waiter gets the token.
        if limit.remove(self) { end() }
    }
}
