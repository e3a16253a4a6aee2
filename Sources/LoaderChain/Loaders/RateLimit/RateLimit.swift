import Dispatch
import LoaderChainPlatformFoundation
import Synchronization

/// Keeps requests within rates of your own, and within the quotas that servers report.
///
/// ```swift
/// let quotas = RateLimit()  // Only the quotas that each server reports.
/// let even = RateLimit(requests: 10, per: .seconds(1))
/// let chain = Retry() --> CircuitBreaker() --> quotas --> terminal
/// ```
///
/// **What it is for.** Servers that count the requests of each client, and refuse those that ask too often.
///
/// A rate is a token bucket: in any stretch of time, no more requests pass than the burst and what the rate allows for its length.
/// With a burst of 1, the default, requests are evenly spaced. A larger burst lets that many pass at once after a quiet time.
///
/// Many servers report in each response how many requests are left, such as `RateLimit: "day";r=50;t=3600`. Half of such a quota may
/// be used at any time; the rest is spread evenly over the time until its reset. ``ServerQuotas`` lists the headers that are read.
/// After a 429 or 503 with a `Retry-After`, no request passes until that time; it goes on while the machine sleeps, which the next
/// request finds out. What the server says that a redirect has led to, if it is another one, is ignored. A limit without
/// ``ServerQuotas``, which a rate of your own is by default, ignores all of that.
///
/// **Where it belongs.** Near the terminal, below every loader that makes requests of its own or repeats them: an attempt of
/// ``Retry`` takes a token like any other request. A ``CircuitBreaker`` goes above it, so that the requests that it refuses
/// take no token.
///
/// Tasks wait for their turns by their ``HTTPRequest/priority``, and those of one priority in the order in which they came; as in
/// a ``Throttle``, lower priorities never starve. A task whose turn would come after its request's ``HTTPRequest/deadline`` fails
/// at once with ``HTTPError/Code/deadlineExceeded``. A cancelled task leaves at once, and a reset completes all that wait as
/// ``HTTPError/Code/resetInProgress``. A reset does not fill the bucket, because the server does not forget the requests either.
///
/// **Costs.** Some servers count more than requests: the tokens of a language model, bytes, credits. Give each request its
/// ``HTTPRequest/cost``, and the limit rates of that:
///
/// ```swift
/// let limit = RateLimit(
///     [.init(requests: 60, per: .seconds(60), burst: 5), .init(cost: 90_000, per: .seconds(60), burst: 20_000)],
///     actualCost: { _, result in result.response?.headers["X-Tokens-Used"].flatMap(Int.init) })
/// ```
public final class RateLimit: HTTPLoader, TaskEndObserver, @unchecked Sendable {
    fileprivate typealias Lane = RateLimitLane<RateLimitWaiter>

    private let timers: any Timers
    private let isPerHost: Bool
    private let quotas: ServerQuotas?
    private let actualCost: (@Sendable (HTTPRequest, HTTPResult) -> Int?)?
    private let state: Locked<RateLimitState<RateLimitWaiter>>
    /// The program's own settings that ``RemoteSettings`` have replaced.
    let replacedSettings = Locked<[String: any Sendable]>([:])
    /// Whether costs have ever counted; until then they are not read.
    private let readsCosts: Atomic<Bool>

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - rates: the rates that all hold at once, such as one per second and one per day; none to use the quotas of servers alone.
    ///   - perHost: whether each host has limits of its own; by default there are common ones for all. A request with a
    ///     ``HTTPRequest/throttleKey`` counts for that instead of its host.
    ///   - serverQuotas: the use of quotas that servers report; nil, the default, to ignore them. Without limits per host, all
    ///     requests should go to one server.
    ///   - actualCost: what a request has cost, to correct its ``HTTPRequest/cost``; nil if it is as expected.
    ///   - maximumWaiting: the number of requests that may wait for their turn, for each host if limits are per host. Further ones fail
    ///     as ``HTTPError/Code/rateLimited``; with 0, every request that comes too early does.
    ///   - timers: the clock and its timers.
    public init(
        _ rates: [Rate], perHost: Bool = false, serverQuotas: ServerQuotas? = nil,
        actualCost: (@Sendable (HTTPRequest, HTTPResult) -> Int?)? = nil, maximumWaiting: Int = 1_000,
        timers: any Timers = SystemTimers.shared
    ) {
        self.timers = timers
        self.actualCost = actualCost
        isPerHost = perHost
        quotas = serverQuotas
        readsCosts = Atomic(actualCost != nil || rates.contains(where: \.isOfCost))
        state = Locked(RateLimitState(rates, quotas: serverQuotas, capacity: maximumWaiting, at: timers.now))
    }

    /// Makes a limit without a rate of its own, which keeps within the quotas that each server reports.
    public convenience init(timers: any Timers = SystemTimers.shared) {
        self.init([], perHost: true, serverQuotas: ServerQuotas(), timers: timers)
    }

    /// Makes a limit of `requests` per period; see ``init(_:perHost:serverQuotas:actualCost:maximumWaiting:timers:)``.
    public convenience init(
        requests: Int, per period: Duration, burst: Int = 1, perHost: Bool = false, serverQuotas: ServerQuotas? = nil,
        maximumWaiting: Int = 1_000, timers: any Timers = SystemTimers.shared
    ) {
        self.init(
            [Rate(requests: requests, per: period, burst: burst)], perHost: perHost, serverQuotas: serverQuotas,
            maximumWaiting: maximumWaiting, timers: timers)
    }

    /// The rates that hold; they can be changed at any time, also for tasks that wait.
    public var rates: [Rate] {
        get { state.withLock { $0.rates } }
        set {
            if newValue.contains(where: \.isOfCost) { readsCosts.store(true, ordering: .relaxed) }
            let now = timers.now
            let steps = state.withLock { $0.change(to: newValue, at: now) }
            for (origin, step) in steps { take(step, for: origin) }
        }
    }

    /// The number of tasks that wait.
    public var waiting: Int { state.withLock { $0.waiting } }

    public override func load(task: HTTPTask) {
        let origin = isPerHost ? task.request.throttleOrigin : nil
        let cost = readsCosts.load(ordering: .relaxed) ? task.cost : 1
        let now = timers.now
        // Most pass, and need nothing to wait with.
        switch state.withLock({ $0.admit(.init(cost: cost), for: origin, at: now) }) {
        case .passes(let pass): self.pass(task, pass, for: origin)
        case .refused(let delay) where quotas == nil: refuse(task, delay)
        case .refused, .mustWait, .waits, .tooLate: queue(task, for: origin, cost: cost, at: now)
        }
    }

    @inline(never)
    private func queue(_ task: HTTPTask, for origin: HTTPOrigin?, cost: Int64, at now: TimerInstant) {
        if quotas != nil { countSleep(for: origin) }
        let waiter = RateLimitWaiter(task, for: origin, of: self)
        let arrival = Lane.Arrival(
            waiter: waiter, cost: cost, priority: waiter.priority,
            deadline: task.deadline?.instant(on: timers, at: now) ?? .never)
        // The queue may have emptied meanwhile, or filled.
        switch state.withLock({ $0.admit(arrival, for: origin, at: now) }) {
        case .waits(let place, let alarm):
            waiter.place = place
            task.addObserver(waiter)
            if let alarm { set(alarm, for: origin) }
        case .passes(let pass):
            waiter.end()
            self.pass(task, pass, for: origin)
        case .mustWait:
            // It has a waiter.
            break
        case .refused(let delay):
            waiter.end()
            refuse(task, delay)
        case .tooLate(let delay):
            waiter.end()
            fail(task, .deadlineExceeded, reason: "Its turn would come in \(delay), which is after its deadline")
        }
    }

    /// Ends in time what a server has asked for or reported, although the clock of the timers may have stood still.
    private func countSleep(for origin: HTTPOrigin?) {
        let reading = ClockReading(timers)
        if let step = withLane(of: origin, { $0.countSleep(until: reading, among: &$1) }) { take(step, for: origin) }
    }

    /// Changes the lane of a host under the lock; nil if it has none, or if `body` returns nil.
    private func withLane<Result>(
        of origin: HTTPOrigin?, _ body: (inout Lane, inout Lane.Waiters) -> Result?
    ) -> Result? {
        state.withLock { $0.withLane(of: origin, body) }
    }

    private func refuse(_ task: HTTPTask, _ delay: Duration) {
        fail(task, .rateLimited, reason: "Too many requests came at once; the next may pass in \(delay)")
    }

    private func pass(_ task: HTTPTask, _ pass: Lane.Pass, for origin: HTTPOrigin?) {
        if quotas != nil || actualCost != nil {
            // A loader below may change what the request costs.
            let mustKeep = pass.number > 0 || readsCosts.load(ordering: .relaxed)
            task.addEndObserver(mustKeep ? RateLimitPass(of: self, pass, for: origin) : self)
        }
        super.load(task: task)
    }

    /// Ends the waiting of all tasks.
    public override func reset(with group: DispatchGroup) {
        for (origin, step) in state.withLock({ $0.removeAll() }) {
            set(step.alarm, for: origin)
            for task in step.passing.compactMap({ $0.waiter.end() }) {
                fail(task, .resetInProgress, reason: "A reset ended the wait for the task's turn")
            }
        }
        super.reset(with: group)
    }

    /// The rates, how many tasks wait, and the rest of the quotas that servers have reported.
    public override var details: String {
        let (rates, hosts, waiting, books) = state.withLock { ($0.rates, $0.hosts, $0.waiting, $0.books) }
        let quotas = books.map { ($0.host.map { "\($0) " } ?? "", $0.book.description) }
            .filter { !$0.1.isEmpty }.map { $0.0 + $0.1 }.sorted()
        let left =
            quotas.prefix(3).joined(separator: "; ") + (quotas.count > 3 ? "; and \(quotas.count - 3) more" : "")
        let texts = [
            rates.map { "\($0)" }.joined(separator: ", "), isPerHost ? "per host, hosts \(hosts)" : "",
            "waiting \(waiting)",
            left.isEmpty ? "" : "left \(left)",
        ]
        return texts.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// How many tasks wait, and with limits per host, how many hosts there are.
    public override var readings: [LoaderReading] {
        let (waiting, hosts) = state.withLock { ($0.waiting, $0.hosts) }
        let waits = LoaderReading.level("rate_limit.waiting", waiting, "How many requests wait for their turn")
        guard isPerHost else { return [waits] }
        return [waits, .level("rate_limit.hosts", hosts, unit: "{host}", "How many hosts have a limit of their own")]
    }

    // MARK: The ends of requests

    func taskHasEnded(_ task: HTTPTask, with result: HTTPResult) {
        // Most servers report nothing.
        if actualCost == nil, case .success(let response) = result, !response.mayReportQuota { return }
        taskHasEnded(
            task, with: result, after: .init(cost: task.cost), for: isPerHost ? task.request.throttleOrigin : nil)
    }

    fileprivate func taskHasEnded(
        _ task: HTTPTask, with result: HTTPResult, after pass: Lane.Pass, for origin: HTTPOrigin?
    ) {
        let end = end(of: task, with: result, after: pass)
        let now = timers.now
        if let step = withLane(of: origin, { $0.note(end, at: now, among: &$1) }) { take(step, for: origin) }
    }

    /// What the result of a task says about the quotas of its server, and about what the request has cost.
    private func end(of task: HTTPTask, with result: HTTPResult, after pass: Lane.Pass) -> QuotaBook.End {
        let response = result.response
        var end = QuotaBook.End(
            number: pass.number, expectedCost: pass.cost, cost: pass.cost, wasSent: true, wasAnswered: response != nil)
        if quotas != nil, let response, response.comes(from: task.request.origin) {
            end.reports = QuotaReport.reports(in: response.headers, now: timers.date)
            if end.reports.contains(where: { $0.unit == .cost }) { readsCosts.store(true, ordering: .relaxed) }
            if response.status.asksToWait {
                end.pause = RetryAfter.delay(of: response, now: timers.date)
            }
            if end.pause > .zero || !end.reports.isEmpty { end.reading = ClockReading(timers) }
        }
        if quotas != nil, response?.headers.areStored == true {
            // A cache has answered, so the server has counted nothing.
            (end.wasSent, end.wasAnswered) = (false, false)
        }
        if let actualCost, let cost = actualCost(task.request, result) { end.cost = CostOption.amount(cost) }
        if response == nil {
            switch ResultMeaning(result) {
            case .unreachable, .heldBack, .unsendable, .insecure, .unauthorized: end.wasSent = false
            case .answered, .stopped, .outOfTime, .lost, .useless, .notTaken, .unknown: break
            }
        }
        return end
    }

    // MARK: Waiting

    /// Takes a waiter out of its lane, and answers whether it still waited there.
    fileprivate func remove(_ waiter: RateLimitWaiter) -> Bool {
        let left = withLane(of: waiter.origin) { $0.leave(waiter.place, of: waiter.priority, among: &$1) }
        if let alarm = left?.alarm { set(alarm, for: waiter.origin) }
        return left != nil
    }

    /// Sets the alarm of a lane for its next turn, if any wait for it.
    private func set(_ alarm: Alarm, for origin: HTTPOrigin?) {
        let now = timers.now
        alarm.set(on: timers, for: { withLane(of: origin) { $0.alarmTime(at: now, among: $1) } }) {
            let now = self.timers.now
            if let step = self.withLane(of: origin, { $0.step(at: now, among: &$1) }) { self.take(step, for: origin) }
        }
    }

    private func take(_ step: Lane.Step, for origin: HTTPOrigin?) {
        // Set before any passes, because the loaders below may take their time.
        set(step.alarm, for: origin)
        for (waiter, pass) in step.passing {
            if let task = waiter.end() { self.pass(task, pass, for: origin) }
        }
    }
}

extension RateLimit {
    /// How much may pass per period: requests, or what they cost.
    ///
    /// Out-of-range values are clamped, so remotely configured rates are safe. There is no rate of zero; to stop all requests,
    /// set the limit of a ``Throttle`` to 0.
    public struct Rate: Hashable, Sendable {
        /// How much may pass in each period in the long run, at least 1.
        public let amount: Int
        /// How much may pass at once after an idle time, at least 1.
        ///
        /// A request that costs more passes after an idle time, too.
        public let burst: Int
        /// Whether the costs of requests count, instead of their number.
        public let isOfCost: Bool
        let nanosecondsPerPeriod: Int64

        /// The period, at least a nanosecond.
        public var period: Duration { .nanoseconds(nanosecondsPerPeriod) }

        /// Makes a rate of `requests` per period.
        public init(requests: Int, per period: Duration, burst: Int = 1) {
            self.init(requests, per: period, burst: burst, isOfCost: false)
        }

        /// Makes a rate of requests that have a ``HTTPRequest/cost`` of `cost` together per period.
        public init(cost: Int, per period: Duration, burst: Int = 1) {
            self.init(cost, per: period, burst: burst, isOfCost: true)
        }

        private init(_ amount: Int, per period: Duration, burst: Int, isOfCost: Bool) {
            // No product of a time and a count of these overflows.
            let most = Int(Int32.max)
            self.amount = min(max(1, amount), most)
            self.burst = min(max(1, burst), most)
            self.isOfCost = isOfCost
            nanosecondsPerPeriod = max(1, period.saturatedNanoseconds)
        }
    }

    /// The use of quotas that servers report.
    ///
    /// ```swift
    /// let limit = RateLimit(requests: 100, per: .seconds(1), burst: 20, perHost: true, serverQuotas: .init(usableBurst: 0.8))
    /// ```
    ///
    /// These headers are read:
    ///
    /// | Headers | Time of the reset |
    /// |---|---|
    /// | `RateLimit` and `RateLimit-Policy`, by the drafts 07 to 11 of the IETF's working group HTTPAPI, with several policies | seconds left |
    /// | `RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset`, by the drafts before | seconds left |
    /// | `X-RateLimit-Limit`, `-Remaining`, `-Reset`, also as `X-Rate-Limit-…`, with the prefix of a vendor, and for quotas with names, such as `X-RateLimit-Remaining-Tokens` | seconds left, an instant in seconds or milliseconds since 1970, a duration such as `1m30s`, or a date |
    /// | `Retry-After`, `retry-after-ms`, `x-amz-retry-after`, with 429 and 503 | seconds or a date; milliseconds |
    ///
    /// An instant is compared with the response's `Date`, so that clocks that differ do no harm. Values that are negative, in the
    /// past or more than a month ahead are ignored.
    public struct ServerQuotas: Hashable, Sendable {
        /// The part of a quota that may be used at any time, from 0 to 1; the rest is spread over the time until the reset.
        public var usableBurst: Double
        /// The longest pause, whatever a server reports; after that, a request is sent to ask again.
        public var maximumPause: Duration

        /// Makes settings; by default, half of a quota may be used at any time, and no pause is longer than an hour.
        public init(usableBurst: Double = 0.5, maximumPause: Duration = .seconds(3_600)) {
            self.usableBurst = usableBurst.isNaN ? 0.5 : min(max(0, usableBurst), 1)
            self.maximumPause = max(.zero, maximumPause)
        }
    }
}

extension RateLimit.Rate: CustomStringConvertible {
    /// The rate in words, as in `10 per 1.0 seconds, burst 1`.
    public var description: String { "\(isOfCost ? "cost " : "")\(amount) per \(period), burst \(burst)" }
}

/// What a request costs where a ``RateLimit`` counts more than requests.
package enum CostOption: HTTPRequestOption {
    package static var defaultOptionValue: Int { 1 }

    /// A cost that can be added without overflow.
    static func amount(_ cost: Int) -> Int64 { Int64(min(max(0, cost), Int(Int32.max))) }
}

extension HTTPRequest {
    /// What the request costs where a ``RateLimit`` counts more than requests, such as the tokens of a language model; 1 unless set.
    public var cost: Int {
        get { self[option: CostOption.self] }
        set { self[option: CostOption.self] = newValue }
    }
}

extension HTTPTask {
    fileprivate var cost: Int64 { CostOption.amount(option(CostOption.self)) }
}

/// A task that waits for its turn, and leaves its queue when it is cancelled or completed before.
private final class RateLimitWaiter: HTTPTaskObserver, @unchecked Sendable {
    /// The host whose lane it waits in; nil for the common one.
    let origin: HTTPOrigin?
    let priority: ThrottlePriority
    /// Its place in the lane; set before it observes the task.
    var place = QueuePlace.nowhere

    private let limit: RateLimit
    private let isMeasured: Bool
    // Written before another object knows of it, and taken once, by whatever has taken this waiter out of its lane.
    private var task: HTTPTask?

    init(_ task: HTTPTask, for origin: HTTPOrigin?, of limit: RateLimit) {
        self.origin = origin
        self.limit = limit
        self.task = task
        priority = task.option(ThrottlePriority.self)
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

/// A task that was passed on to a server that has reported a quota.
private final class RateLimitPass: TaskEndObserver {
    private let limit: RateLimit
    private let pass: RateLimit.Lane.Pass
    private let origin: HTTPOrigin?

    init(of limit: RateLimit, _ pass: RateLimit.Lane.Pass, for origin: HTTPOrigin?) {
        self.limit = limit
        self.pass = pass
        self.origin = origin
    }

    func taskHasEnded(_ task: HTTPTask, with result: HTTPResult) {
        limit.taskHasEnded(task, with: result, after: pass, for: origin)
    }
}
