import Dispatch

/// Sends a request a second time when its first attempt is unusually slow, and uses the response that comes first.
///
/// ```swift
/// let breaker = CircuitBreaker()
/// let budget = RetryBudget()
/// let hedge = Hedge(budget: budget, condition: { breaker.state(of: $0) == .closed })
/// let chain = Retry(strategy, budget: budget) --> hedge --> Throttle() --> breaker --> terminal
/// print(chain, hedge.snapshot.won)
/// ```
///
/// **What it is for.** If one response in fifty takes ten times as long as the others, because of a lost packet, a full queue
/// or a pause of one server, a second attempt is likely to be quick. The hedge waits as long as 95 % of the responses of this
/// kind take, so that few requests are sent twice. A server or a network that is slow as a whole gains nothing; in that case
/// the budget bounds the cost.
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
/// **Where it belongs.** Below ``Retry`` and the authentication, so that it sees how the server responds to each attempt and a
/// loser's 401 replaces no token. A retry below it would hide a 503; if there must be one, put an ``AttemptWatch`` below it,
/// which shows the 503 to the hedge. Above ``Throttle``, ``CircuitBreaker`` and ``RateLimit``, so that a second attempt takes a
/// slot like any other request. Below the loader that fills in the host.
///
/// A reset ends the watch over slow attempts, waits for those that are under way, and forgets all response times.
public final class Hedge: HTTPLoader, @unchecked Sendable {
    let desk: HedgeDesk
    private let races = Locked(LinkedQueue<HedgeRace>())

    /// Makes a hedge.
    ///
    /// - Parameters:
    ///   - settings: the rules for second attempts, and their limits.
    ///   - budget: a budget that second attempts are also taken from, usually that of the ``Retry`` of the same chain.
    ///   - timers: the clock and the timers of the delays.
    ///   - condition: the condition under which a request may be hedged; called when its first attempt is slow, under no lock.
    ///   - onEvent: called for each event, on the thread on which it happens, under no lock.
    public init(
        _ settings: Settings = Settings(), budget: RetryBudget? = nil, timers: any Timers = SystemTimers.shared,
        condition: (@Sendable (HTTPRequest) -> Bool)? = nil, onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        desk = HedgeDesk(settings, budget, timers, condition, onEvent)
    }

    /// What has happened so far.
    public var snapshot: Snapshot { desk.snapshot }

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
        // The race sends the second attempt, when its alarm rings.
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

    /// Forgets the reset, although attempts that it waited for still run.
    public override func resetTimedOut(with group: DispatchGroup) {
        for race in races.withLock({ $0.elements }) { race.giveUpReset(of: group) }
        super.resetTimedOut(with: group)
    }

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

    func pass(_ attempt: HTTPTask) { super.load(task: attempt) }

    /// Passes a second attempt on, if it is still open and `isWanted` says so; otherwise it has its result.
    func pass(_ attempt: HTTPTask, if isWanted: () -> Bool) {
        guard let nextLoader, nextLoader.accept(attempt), isWanted() else { return }
        nextLoader.load(task: attempt)
    }

    func forget(_ race: HedgeRace) {
        _ = races.withLock { $0.remove(race.place) }
    }
}

// MARK: - For one request, and for a chain

/// Whether a ``Hedge`` may send a request a second time while the first attempt is under way.
///
/// ```swift
/// request.hedging = .never
/// ```
public enum HedgingOption: HTTPRequestOption {
    /// The request may be hedged if its method is safe, as GET and HEAD are, and its options allow two attempts at once;
    /// see ``HTTPRequestOption/allowsTwoAttempts(with:)``.
    case automatic
    /// The request may be hedged whatever its method and its options, if it may be repeated according to ``HTTPRequest/isRepeatable``.
    ///
    /// Choose it for a PUT, or for a POST with an idempotency key, that the server may receive twice at the same time.
    case allowed
    /// The request is not hedged.
    case never

    /// The method decides.
    public static var defaultOptionValue: HedgingOption { .automatic }
}

extension HTTPRequest {
    /// Whether a ``Hedge`` may send the request a second time; ``HedgingOption/automatic`` unless it is set.
    public var hedging: HedgingOption {
        get { self[option: HedgingOption.self] }
        set { self[option: HedgingOption.self] = newValue }
    }

    /// Whether two attempts of the request may be under way at once: its ``hedging``, method, body and options decide, as they are now.
    package var isHedgeable: Bool {
        switch hedging {
        case .never: return false
        case .automatic: guard method.isSafe, storage.options.allowTwoAttempts else { return false }
        case .allowed: break
        }
        return isRepeatable && body.canBeSentAgain
    }
}

extension AttemptWatch {
    /// Makes a watch for a hedge that stands above a ``Retry``, so that the hedge sees each response that pushes back.
    ///
    /// ```swift
    /// let hedge = Hedge()
    /// let chain =
    ///     hedge --> Retry(.exponential(delay: 0.5, maximumNumberOfAttempts: 3))
    ///     --> AttemptWatch(hedge) --> terminal
    /// ```
    ///
    /// Without a watch, the hedge sees only the result of all attempts together, and a 503 that a retry has overcome is hidden
    /// from it.
    public convenience init(_ hedge: Hedge) { self.init(for: hedge.desk) }
}

// MARK: - Settings, and what has happened

extension Hedge {
    /// The rules for second attempts, and their limits.
    public struct Settings: Hashable, Sendable {
        /// The share of the response times that the delay covers, from 0.5 to 1: with 0.95, about every twentieth request
        /// is slow enough to be hedged.
        ///
        /// A smaller number counts as 0.5. No time that is shorter than the delay can improve. Leave ``share`` at `1 - quantile` or more.
        public var quantile: Double
        /// The number of hedges that each request pays for, from 0 to 1.
        ///
        /// There are never more hedges than this share of the requests, whatever happens.
        public var share: Double
        /// The number of hedges that may be saved up for a time at which many requests are slow.
        public var burst: Int
        /// The number of response times of its kind that must be known before a request is hedged.
        public var minimumNumberOfSamples: Int
        /// The shortest delay.
        public var minimumDelay: Duration
        /// The longest delay.
        public var maximumDelay: Duration
        /// The time for which nothing is hedged at a host after it has asked for fewer requests.
        public var pause: Duration
        /// The longest pause that a server can request with `Retry-After`.
        public var maximumPause: Duration

        /// Makes settings; with the defaults, there are at most 5 % more requests.
        public init(
            quantile: Double = 0.95, share: Double = 0.05, burst: Int = 10, minimumNumberOfSamples: Int = 50,
            minimumDelay: Duration = .milliseconds(5), maximumDelay: Duration = .seconds(10),
            pause: Duration = .seconds(10), maximumPause: Duration = .seconds(60)
        ) {
            self.quantile = quantile
            self.share = share
            self.burst = burst
            self.minimumNumberOfSamples = minimumNumberOfSamples
            self.minimumDelay = minimumDelay
            self.maximumDelay = maximumDelay
            self.pause = pause
            self.maximumPause = maximumPause
        }

        /// The quantile from 0.5 to 1; the longest time if it is not a number.
        ///
        /// A time below the median separates no slow requests.
        var usableQuantile: Double { quantile.isNaN ? 1 : min(max(0.5, quantile), 1) }

        /// A delay within the bounds; the lower bound wins if they contradict each other.
        func bounded(_ delay: Duration) -> Duration { max(minimumDelay, .zero, min(delay, maximumDelay)) }
    }

    /// The reason why a slow request was not hedged; there may be more reasons in the future.
    public struct Suppression: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The name of the reason.
        public let rawValue: String

        /// Makes a reason of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the reason.
        public var description: String { rawValue }

        /// Too few response times of its kind were known.
        public static let tooFewSamples = Suppression(rawValue: "tooFewSamples")
        /// The hedge budget is exhausted, or the shared ``RetryBudget``.
        public static let budget = Suppression(rawValue: "budget")
        /// The host has recently asked for fewer requests, or a loader below has refused a request to it.
        public static let pushback = Suppression(rawValue: "pushback")
        /// Far more requests of its kind were slow than the quantile says, so a second attempt would be slow too.
        public static let allSlow = Suppression(rawValue: "allSlow")
        /// The usual time would not end before the deadline.
        public static let deadline = Suppression(rawValue: "deadline")
        /// The second attempt would have waited in a queue below, such as that of a full ``Throttle``.
        public static let queue = Suppression(rawValue: "queue")
        /// A loader below, such as a ``CircuitBreaker``, has refused the second attempt.
        public static let refused = Suppression(rawValue: "refused")
        /// The condition that the loader was made with does not hold.
        public static let condition = Suppression(rawValue: "condition")
    }

    /// An event of a request; see ``Hedge/init(_:budget:timers:condition:onEvent:)``.
    public struct Event: Hashable, Sendable {
        /// A kind of event; there may be more in the future.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            private let name: String
            /// The reason why there was no second attempt, if that is what has happened.
            public let suppression: Suppression?

            private init(_ name: String, _ suppression: Suppression? = nil) {
                self.name = name
                self.suppression = suppression
            }

            /// The second attempt was sent.
            public static let sent = Kind("sent")
            /// The second attempt has the response.
            public static let won = Kind("won")
            /// The second attempt has ended without being used.
            public static let lost = Kind("lost")
            /// There was no second attempt, although the first was slow or would have been watched.
            public static func suppressed(_ reason: Suppression) -> Kind { Kind("suppressed", reason) }

            /// The name, with the reason if there is one, as in `suppressed(budget)`.
            public var description: String { suppression.map { "\(name)(\($0))" } ?? name }
        }

        /// The host in lowercase, with the port if that is not the scheme's own.
        public let host: String
        /// What has happened.
        public let kind: Kind
    }

    /// What has happened so far.
    public struct Snapshot: Hashable, Sendable {
        /// The number of requests that may be hedged.
        public var requests = 0
        /// The number of second attempts that were sent.
        public var sent = 0
        /// The number of them that had the response.
        public var won = 0
        /// The number of them that were not used; the others are under way.
        public var lost = 0
        /// The number of requests that were not hedged, by the reason.
        public var suppressed: [Suppression: Int] = [:]

        package init() {}

        mutating func count(_ kind: Event.Kind) {
            if let reason = kind.suppression {
                suppressed[reason, default: 0] += 1
            } else if kind == .sent {
                sent += 1
            } else if kind == .won {
                won += 1
            } else if kind == .lost {
                lost += 1
            }
        }
    }
}
