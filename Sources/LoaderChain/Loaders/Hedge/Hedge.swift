import Dispatch

/// Sends a request a second time when its first attempt is unusually slow, and uses the response that comes first.
///
/// ```swift
/// let breaker = CircuitBreaker()
/// let budget = RetryBudget()
/// let hedge = Hedge(budget: budget, condition: { breaker.state(of: $0) == .closed })
/// let chain = Retry(strategy: strategy, budget: budget) --> hedge --> Throttle() --> breaker --> terminal
/// print(chain, hedge.snapshot.won)
/// ```
///
/// **What it is for.** Where one response in fifty takes ten times as long as the others, because it meets a lost packet,
/// a full queue or a pause of one server, a second attempt is likely to be quick. The hedge waits as long as 95 % of the
/// responses of this kind take, so that few requests are sent twice. A server or a network that is slow as a whole gains
/// nothing; there the budget bounds the cost.
///
/// **What is hedged.** Requests with a safe method, such as GET, unless ``HTTPRequest/hedging`` or
/// ``HTTPRequest/isRepeatable`` says otherwise, and others that set ``HedgingOption/allowed``. The body must be one that
/// can be sent again. A kind of request is a method, a host and a route, as ``HTTPRequest/route`` or the path's template
/// has it. The last 512 response times of a kind are kept, for up to 128 kinds.
///
/// There is no second attempt
/// - while fewer than 50 response times of the kind are known;
/// - when the budget is spent: a twentieth of the requests, and the ``RetryBudget`` if there is one;
/// - for a while after the host has responded with 429, 503 or `Retry-After`, or a loader below has refused a request;
/// - while a quarter of the requests are slow, instead of a twentieth: then the server is slow as a whole. For each
///   quantile, the share at which nothing is hedged has six times the odds of the expected one;
/// - when it would have to wait in a queue below, such as that of a full ``Throttle``;
/// - when a loader below refuses it, such as a ``CircuitBreaker`` that is open;
/// - after a cancel or a reset, or when the condition that you give does not hold.
///
/// **Which response wins.** The first that is not a transient failure, such as a 500, according to
/// `HTTPResult.isTransientFailure`. A failure waits for the other attempt; when both have failed, the result is that of
/// the first. A first attempt that fails while it is alone is not repeated: that is for ``Retry``.
///
/// **What the loser leaves behind.** It is cancelled when the other attempt has won. Its result is not passed on, and
/// loaders below see it as cancelled: a breaker does not count it, a limit's slot is free again, and a tap below counts
/// a cancelled attempt while one above sees one request. The transport stores no cookies and caches nothing for a
/// response whose head has not arrived. The time until then is not forgotten: it counts as one that was not enough.
///
/// **Where it belongs.** Below ``Retry`` and the authentication, so that it sees how the server responds to each attempt
/// and a loser's 401 replaces no token. A retry below it would hide a 503; if there must be one, an ``AttemptWatch`` below
/// that shows it to the hedge. Above ``Throttle``, ``CircuitBreaker`` and ``RateLimit``, so that a second
/// attempt takes a slot like any other request. Below the loader that fills in the host.
///
/// A reset ends the watch over slow attempts, waits for those that are under way, and forgets all response times.
public final class Hedge: HTTPLoader, @unchecked Sendable {
    let desk: HedgeDesk
    private let races = Locked(LinkedQueue<HedgeRace>())

    /// Makes a hedge.
    ///
    /// - Parameters:
    ///   - settings: when a second attempt is sent, and how many there may be.
    ///   - budget: a budget that second attempts are taken from too, usually that of the ``Retry`` of the same chain.
    ///   - timers: the clock and the timers of the delays.
    ///   - condition: whether a request may be hedged now; called when its first attempt is slow, under no lock.
    ///   - onEvent: called for each event, on the thread on which it happens, under no lock.
    public init(
        _ settings: Settings = Settings(), budget: RetryBudget? = nil, timers: any Timers = SystemTimers.shared,
        condition: (@Sendable (HTTPRequest) -> Bool)? = nil, onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        desk = HedgeDesk(settings, budget, timers, condition, onEvent)
    }

    /// What has happened so far.
    public var snapshot: Snapshot { desk.snapshot }

    /// Passes a task on, and a second attempt if that is slow.
    public override func load(task: HTTPTask) {
        let request = task.request
        guard request.isHedgeable else {
            task.addObserver(desk)
            return super.load(task: task)
        }
        let kind = desk.arrive(request)
        guard let delay = kind.delay(desk.settings) else {
            desk.report(.suppressed(.tooFewSamples), of: kind)
            task.addWaitObserver(HedgeSampler(kind, desk))
            return super.load(task: task)
        }
        let race = HedgeRace(task, of: kind, delay: delay, self)
        races.withLock { race.place = $0.append(race) }
        race.begin()
    }

    /// Ends the watch over slow attempts, and waits for those that are under way.
    public override func reset(with group: DispatchGroup) {
        desk.forgetKinds()
        for race in races.withLock({ $0.elements }) { race.reset(with: group) }
        super.reset(with: group)
    }

    /// Forgets the reset, though attempts are under way that it has waited for.
    public override func resetTimedOut(with group: DispatchGroup) {
        for race in races.withLock({ $0.elements }) { race.giveUpReset(of: group) }
        super.resetTimedOut(with: group)
    }

    /// How many tasks are watched, how many of them are hedged, and how many hedges have won.
    public override var details: String {
        let races = races.withLock { $0.elements }
        let snapshot = snapshot
        let hedged = races.count(where: \.isHedged)
        return "running \(races.count), of these hedged \(hedged), sent \(snapshot.sent), won \(snapshot.won)"
    }

    /// How many tasks are watched and hedged, what became of the hedges, and what is left of the budget.
    public override var readings: [LoaderReading] {
        let races = races.withLock { $0.elements }
        return desk.readings(running: races.count, hedged: races.count(where: \.isHedged))
    }

    // MARK: For its races

    /// Passes a first attempt on.
    func pass(_ attempt: HTTPTask) { super.load(task: attempt) }

    /// Passes a second attempt on, if it is still open and `isWanted` says so; otherwise it has its result.
    func pass(_ attempt: HTTPTask, if isWanted: () -> Bool) {
        guard let nextLoader, nextLoader.accept(attempt), isWanted() else { return }
        nextLoader.load(task: attempt)
    }

    /// Removes a race that is over.
    func forget(_ race: HedgeRace) {
        _ = races.withLock { $0.remove(race.place) }
    }
}
