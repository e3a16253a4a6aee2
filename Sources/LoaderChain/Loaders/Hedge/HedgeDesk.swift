/// What a hedge shares with its races: its settings, its clock and its books.
///
/// It observes the requests that are not hedged too, because their results tell whether their host pushes back. It has
/// no reference to a loader. The condition and the event hook are user code, and run under no lock.
final class HedgeDesk: HTTPTaskObserver {
    let settings: Hedge.Settings
    let clock: TimerClock
    private let budget: RetryBudget?
    private let condition: (@Sendable (HTTPRequest) -> Bool)?
    private let onEvent: (@Sendable (Hedge.Event) -> Void)?
    private let books: Locked<HedgeBooks>

    init(
        _ settings: Hedge.Settings, _ budget: RetryBudget?, _ timers: any Timers,
        _ condition: (@Sendable (HTTPRequest) -> Bool)?, _ onEvent: (@Sendable (Hedge.Event) -> Void)?
    ) {
        self.settings = settings
        self.budget = budget
        clock = TimerClock(timers)
        self.condition = condition
        self.onEvent = onEvent
        books = Locked(HedgeBooks(settings))
    }

    var snapshot: Hedge.Snapshot { books.withLock { $0.snapshot } }

    /// How many hedges the requests have paid for.
    var remaining: Int { books.withLock { $0.share.remaining } }

    /// A request that may be hedged has come; returns its kind.
    func arrive(_ request: HTTPRequest) -> HedgeKind {
        let host = request.origin
        let key = RequestKind(request)
        return books.withLock { $0.arrive(key, from: host) }
    }

    func forgetKinds() { books.withLock { $0.forgetKinds() } }

    // MARK: Whether to hedge

    /// Takes a hedge from the budgets, and returns whether there may be one.
    func takeHedge(for request: HTTPRequest, of kind: HedgeKind, timeLeft: Duration?) -> Bool {
        guard let reason = objection(to: request, of: kind, timeLeft) else { return true }
        report(.suppressed(reason), of: kind)
        return false
    }

    private func objection(to request: HTTPRequest, of kind: HedgeKind, _ timeLeft: Duration?) -> Hedge.Suppression? {
        let areAllSlow = kind.noteSlow(settings)
        if let condition, !condition(request) { return .condition }
        if areAllSlow { return .allSlow }
        let usualTime = timeLeft == nil ? nil : kind.usualTime
        let now = clock.now
        let objection = books.withLock {
            $0.takeHedge(to: kind.host, timeLeft: timeLeft, usualTime: usualTime, at: now)
        }
        if let objection { return objection }
        if let budget, !budget.takeRetry() {
            books.withLock { $0.giveBack() }
            return .budget
        }
        return nil
    }

    /// Gives back a hedge that was not sent.
    func giveBack() {
        books.withLock { $0.giveBack() }
        budget?.giveBackRetry()
    }

    // MARK: What has happened

    func report(_ event: Hedge.Event.Kind, of kind: HedgeKind) {
        books.withLock { $0.count(event) }
        onEvent?(Hedge.Event(host: kind.host.description, kind: event))
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        if let pause = pause(after: result) { begin(pause, at: task.request.origin) }
    }

    /// Notes whether a host pushes back.
    func note(_ result: HTTPResult, from host: HTTPOrigin) {
        if let pause = pause(after: result) { begin(pause, at: host) }
    }

    private func begin(_ pause: Duration, at host: HTTPOrigin) {
        let now = clock.now
        books.withLock { $0.pause(host, until: now.advanced(by: pause), at: now) }
    }

    /// How long nothing is to be hedged at the host of the result; nil if it does not push back.
    private func pause(after result: HTTPResult) -> Duration? {
        if let error = result.error, ResultMeaning(error.code) == .heldBack { return settings.pause }
        guard let response = result.response else { return nil }
        let asked = RetryAfter.delay(of: response, now: clock.timers.date)
        let isRefusal = response.status == .tooManyRequests || response.status == .serviceUnavailable
        guard isRefusal || asked > .zero else { return nil }
        return max(settings.pause, min(asked, settings.maximumPause))
    }
}
