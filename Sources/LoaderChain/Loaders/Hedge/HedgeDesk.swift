/// The state that a hedge shares with its races: its settings, its clock and its books.
///
/// The desk also observes the requests that are not hedged, because their results show whether their host pushes back. It has
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

    func giveBack() {
        books.withLock { $0.giveBack() }
        budget?.giveBackRetry()
    }

    // MARK: What has happened

    func report(_ event: Hedge.Event.Kind, of kind: HedgeKind) {
        books.withLock { $0.count(event) }
        onEvent?(Hedge.Event(host: kind.host.description, kind: event))
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) { note(result, from: task.request.origin) }

    /// Notes whether a host pushes back.
    func note(_ result: HTTPResult, from host: @autoclosure () -> HTTPOrigin) {
        guard let pause = pause(after: result) else { return }
        let origin = host()
        guard result.comes(from: origin) else { return }
        let now = clock.now
        books.withLock { $0.pause(origin, until: now.advanced(by: pause), at: now) }
    }

    /// The time for which nothing is hedged at the host of the result; nil if it does not push back.
    private func pause(after result: HTTPResult) -> Duration? {
        if let error = result.error, ResultMeaning(error.code) == .heldBack { return settings.pause }
        guard let response = result.response else { return nil }
        let asked = RetryAfter.delay(of: response, now: clock.timers.date)
        guard response.status.asksToWait || asked > .zero else { return nil }
        return max(settings.pause, min(asked, settings.maximumPause))
    }

    // MARK: Readings

    func readings(running: Int, hedged: Int) -> [LoaderReading] {
        let (snapshot, remaining) = books.withLock { ($0.snapshot, $0.share.remaining) }
        let counts: [LoaderReading] = [
            .level("hedge.running", running, "How many requests are hedged if they are slow"),
            .level("hedge.hedged", hedged, "How many requests have two attempts in flight"),
            .counter("hedge.requests", snapshot.requests, "How many requests could have been hedged"),
            .counter("hedge.sent", snapshot.sent, "How many second attempts were sent"),
            .counter("hedge.won", snapshot.won, "How many second attempts won"),
            .counter("hedge.lost", snapshot.lost, "How many second attempts lost"),
            .gauge(
                "hedge.budget.remaining", remaining, unit: "{attempt}",
                "How many second attempts the requests have paid for"),
        ]
        let suppressed = snapshot.suppressed.sorted { $0.key.rawValue < $1.key.rawValue }.map { reason, count in
            LoaderReading.counter(
                "hedge.suppressed", count, "How many requests were not hedged", ["reason": reason.rawValue])
        }
        return counts + suppressed
    }
}

extension HedgeDesk: AttemptWatcher {
    func watchAttempt(_ task: HTTPTask) { task.addObserver(self) }
}

// MARK: - What it knows

/// What a hedge knows about all requests: their kinds, the budget, the hosts that push back, and what has happened.
struct HedgeBooks {
    /// The number of kinds that are counted separately; those that were used longest ago are forgotten.
    static var mostKinds: Int { 128 }

    private(set) var kinds = RecentTable<RequestKind, HedgeKind>(capacity: mostKinds)
    private(set) var share: HedgeShare
    /// Until when nothing is hedged at a host that asked for fewer requests.
    private var pauses = HostTable<HTTPOrigin, TimerInstant>()
    private(set) var snapshot = Hedge.Snapshot()

    init(_ settings: Hedge.Settings) {
        share = HedgeShare(share: settings.share, burst: settings.burst)
    }

    mutating func arrive(_ key: RequestKind, from host: @autoclosure () -> HTTPOrigin) -> HedgeKind {
        snapshot.requests += 1
        share.noteRequest()
        return kinds.value(of: key) { HedgeKind(of: host()) }
    }

    /// Takes a hedge from the budget, or returns the reason against it.
    ///
    /// `timeLeft` is nil for unlimited, and half of the requests of its kind end within `usualTime`.
    mutating func takeHedge(
        to host: HTTPOrigin, timeLeft: Duration?, usualTime: Duration?, at now: TimerInstant
    ) -> Hedge.Suppression? {
        if pauses.withEntry(of: host, { now < $0 }) == true { return .pushback }
        if let timeLeft, timeLeft < usualTime ?? .zero { return .deadline }
        return share.take() ? nil : .budget
    }

    mutating func giveBack() { share.giveBack() }

    /// Hedges nothing at a host until `end`, or until a later end that was noted before.
    mutating func pause(_ host: HTTPOrigin, until end: TimerInstant, at now: TimerInstant) {
        pauses.withEntry(of: host, orMake: { end }, sweeping: { $0 <= now }) { $0 = max($0, end) }
    }

    mutating func count(_ kind: Hedge.Event.Kind) { snapshot.count(kind) }
    mutating func forgetKinds() { kinds.removeAll() }
}

/// The hedges that the requests have paid for: a share of each, saved up to a small number.
///
/// The budget begins empty, so that there are never more hedges than the share of all requests. It is counted in millionths of
/// a hedge, so that rounding errors do not add up.
struct HedgeShare: Sendable {
    private static var price: Int64 { 1_000_000 }

    private let deposit: Int64
    private let most: Int64
    private var saved: Int64 = 0

    /// Makes a budget of `share` hedges per request, of which at most `burst` are saved.
    init(share: Double, burst: Int) {
        let share = share.isNaN ? 0 : min(max(0, share), 1)
        deposit = Int64((share * Double(Self.price)).rounded())
        // Larger settings amount to no limit, and with these no product overflows.
        most = Int64(min(max(0, burst), Int(Int32.max))) * Self.price
    }

    var remaining: Int { Int(saved / Self.price) }

    /// Notes a request, which pays for a part of a hedge.
    mutating func noteRequest() { saved = min(most, saved + deposit) }

    mutating func take() -> Bool {
        guard saved >= Self.price else { return false }
        saved -= Self.price
        return true
    }

    /// Gives back a hedge that was not sent.
    mutating func giveBack() { saved = min(most, saved + Self.price) }
}
