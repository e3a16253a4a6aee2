import Dispatch
import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// The loader: what is hedged, what is not and why, and what the loser leaves behind.
@Suite(.timeLimit(.minutes(10))) final class HedgeTests {
    let timers = ManualTimers()
    let terminal = ScriptedTerminal()
    let events = EventLog()

    /// Ends what a test has left, which would keep its chain alive.
    deinit {
        repeat {
            terminal.answerAll()
        } while timers.advanceToNext()
    }

    private func makeHedge(
        _ settings: Hedge.Settings = Hedge.Settings(share: 1, minimumNumberOfSamples: 10), budget: RetryBudget? = nil,
        condition: (@Sendable (HTTPRequest) -> Bool)? = nil
    ) -> Hedge {
        Hedge(settings, budget: budget, timers: timers, condition: condition) { [events] event in
            if event.kind != .suppressed(.tooFewSamples) { events.note("\(event.kind)") }
        }
    }

    /// A chain in which ten requests have taken 100 ms each, so that the next may be hedged after that time.
    private func trained(_ hedge: Hedge, below: HTTPLoader? = nil) -> HTTPLoader {
        let chain = (hedge --> below) --> terminal
        for _ in 0..<10 {
            chain.load(request: .sample) { _ in }
            timers.advance(by: .milliseconds(100))
            terminal.answerAll()
        }
        return chain
    }

    @discardableResult
    private func load(_ request: HTTPRequest = .sample, with chain: HTTPLoader) -> HTTPTask {
        chain.load(request: request) { [events] result in
            let body = result.response.map { String(decoding: $0.body, as: UTF8.self) } ?? ""
            events.note("\(result.error.map { "\($0.code)" } ?? "\(result.response?.status.rawValue ?? 0)") \(body)")
        }
    }

    private func held(_ index: Int) throws -> HTTPTask {
        try #require(terminal.held.indices.contains(index) ? terminal.held[index] : nil)
    }

    // MARK: The race

    @Test func slowRequestIsSentAgainAndFirstResponseWins() throws {
        let hedge = makeHedge()
        let chain = trained(hedge)
        load(with: chain)
        timers.advance(by: .milliseconds(99))
        #expect(terminal.held.count == 1)
        timers.advance(by: .milliseconds(1))
        #expect(terminal.held.count == 2)
        #expect("\(chain)".contains("running 1, of these hedged 1, sent 1, won 0"))
        let (first, second) = try (held(0), held(1))
        #expect(first.request.url == second.request.url)
        terminal.answer(second, body: "second")
        #expect(first.isCancelled && terminal.held.isEmpty && timers.pendingCount == 0)
        #expect(events.events == ["sent", "won", "200 second"])
        #expect("\(chain)".contains("running 0, of these hedged 0, sent 1, won 1"))
        #expect(hedge.snapshot.requests == 11)
        #expect(hedge.snapshot.suppressed == [.tooFewSamples: 10])
    }

    @Test func firstAttemptCanStillWin() throws {
        let hedge = makeHedge()
        let chain = trained(hedge)
        let attempts = Locked(0)
        let task = chain.load(request: .sample) { result in attempts.withLock { $0 = result.attempts } }
        timers.advance(by: .milliseconds(100))
        let second = try held(1)
        terminal.answer(try held(0))
        #expect(task.isCompleted && second.isCancelled && second.isCompleted)
        #expect(attempts.withLock { $0 } == 2)
        #expect(hedge.snapshot.sent == 1 && hedge.snapshot.lost == 1 && hedge.snapshot.won == 0)
    }

    @Test func quickRequestIsNotSentAgain() throws {
        let hedge = makeHedge()
        let chain = trained(hedge)
        load(with: chain)
        timers.advance(by: .milliseconds(50))
        terminal.answer(try held(0), body: "quick")
        #expect(timers.pendingCount == 0 && terminal.requests.count == 11 && events.events == ["200 quick"])
    }

    /// With the settings as they are: it knows fifty times, and has a twentieth of a hedge from each request.
    @Test func usualHedgeBeginsAfterFiftyResponses() throws {
        let hedge = Hedge(timers: timers)
        let chain = hedge --> terminal
        for _ in 0..<49 {
            load(with: chain)
            timers.advance(by: .milliseconds(100))
            terminal.answer(try held(0))
        }
        load(with: chain)
        timers.advance(by: .seconds(1))
        #expect(terminal.held.count == 1 && hedge.snapshot.suppressed == [.tooFewSamples: 50])
        terminal.answer(try held(0))
        // All but one of the fifty have taken a tenth of a second.
        for isHedged in [true, true, false] {
            load(with: chain)
            timers.advance(by: .milliseconds(99))
            #expect(terminal.held.count == 1)
            timers.advance(by: .milliseconds(1))
            #expect(terminal.held.count == (isHedged ? 2 : 1), "\(hedge.snapshot)")
            terminal.answer(try held(0))
        }
        #expect(hedge.snapshot.sent == 2 && hedge.snapshot.suppressed[.budget] == 1, "\(hedge.snapshot)")
    }

    @Test func failedAttemptWaitsForTheOther() throws {
        let chain = trained(makeHedge())
        load(with: chain)
        timers.advance(by: .milliseconds(100))
        terminal.answer(try held(0), .internalServerError, body: "first")
        #expect(events.events == ["sent"])
        terminal.answer(try held(0), .ok, body: "second")
        #expect(events.events.contains("200 second") && events.events.contains("won"))

        load(with: chain)
        timers.advance(by: .milliseconds(200))
        terminal.answer(try held(1), .internalServerError, body: "second")
        terminal.answer(try held(0), .badGateway, body: "first")
        #expect(events.events.last == "502 first")
    }

    @Test func failureBeforeSecondAttemptIsReportedAtOnce() throws {
        let chain = trained(makeHedge())
        load(with: chain)
        terminal.refuse(try held(0), .connectionLost)
        #expect(events.events == ["connectionLost "] && timers.pendingCount == 0)
    }

    // MARK: What may be hedged

    @Test(arguments: [
        (HTTPMethod.get, HedgingOption.automatic, Bool?.none, true), (.head, .automatic, nil, true),
        (.put, .automatic, nil, false), (.put, .allowed, nil, true), (.post, .allowed, nil, false),
        (.post, .allowed, true, true), (.post, .automatic, true, false), (.get, .never, nil, false),
        (.get, .automatic, false, false),
    ])
    func onlyHedgeableRequestsAreHedged(
        _ method: HTTPMethod, _ hedging: HedgingOption, _ repeatable: Bool?, _ isHedged: Bool
    ) throws {
        let chain = makeHedge(Hedge.Settings(share: 1, minimumNumberOfSamples: 1)) --> terminal
        var request = HTTPRequest.sample
        request.method = method
        request.hedging = hedging
        if let repeatable { request.isRepeatable = repeatable }
        load(request, with: chain)
        timers.advance(by: .milliseconds(100))
        terminal.answer(try held(0))
        load(request, with: chain)
        timers.advance(by: .milliseconds(100))
        #expect(terminal.held.count == (isHedged ? 2 : 1))
    }

    @Test func requestWithConsumedBodyIsNotHedgeable() throws {
        struct Spent: HTTPBody {
            var canBeSentAgain: Bool { false }
            func encode() -> HTTPBodyContent { .data(Data([1])) }
        }
        var request = HTTPRequest.sample
        request.body = Spent()
        #expect(!request.isHedgeable)
        request.body = DataBody(Data([1]))
        #expect(request.isHedgeable)
    }

    @Test func routesHostsAndMethodsAreTimedSeparately() throws {
        let chain = trained(makeHedge())
        for request in [
            HTTPRequest(host: "example.com", path: "/v1/orders"), HTTPRequest(host: "other.com", path: "/v1/users"),
            HTTPRequest(method: .head, host: "example.com", path: "/v1/users"),
        ] {
            load(request, with: chain)
            timers.advance(by: .seconds(1))
            #expect(terminal.held.count == 1, "\(request)")
            terminal.answer(try held(0))
        }
    }

    // MARK: When nothing is hedged

    private func expectNoHedge(_ reason: Hedge.Suppression, _ hedge: Hedge, _ chain: HTTPLoader) throws {
        let sent = terminal.requests.count
        load(with: chain)
        timers.advance(by: .seconds(1))
        #expect(terminal.requests.count == sent + 1)
        #expect(hedge.snapshot.suppressed[reason] == 1, "\(hedge.snapshot)")
        #expect(events.events.contains("suppressed(\(reason))"))
        terminal.answer(try held(0))
    }

    @Test(arguments: [
        (HTTPStatus.tooManyRequests, String?.none, Int64(10)), (.serviceUnavailable, nil, 10),
        (.serviceUnavailable, "30", 30), (.ok, "20", 20), (.serviceUnavailable, "3600", 60),
    ])
    func hostThatPushesBackIsNotHedged(_ status: HTTPStatus, _ retryAfter: String?, _ seconds: Int64) throws {
        let hedge = makeHedge()
        let chain = trained(hedge)
        // A request that is never hedged also shows that its host pushes back.
        load(HTTPRequest(method: .post, host: "EXAMPLE.com", path: "/"), with: chain)
        terminal.answer(try held(0), status, headers: retryAfter.map { ["Retry-After": $0] } ?? [:])
        timers.advance(by: .seconds(seconds) - .milliseconds(101))
        try expectNoHedge(.pushback, hedge, chain)
        load(with: chain)
        timers.advance(by: .seconds(1))
        #expect(terminal.held.count == 2)
    }

    /// A retry below gets over a 503, which only a watch below that shows.
    @Test(arguments: [true, false]) func attemptWatchReportsPushbackHiddenByRetry(isWatched: Bool) throws {
        let hedge = makeHedge()
        let retry = Retry(.constant(delay: 0, maximumNumberOfAttempts: 2), timers: timers)
        let chain = trained(hedge, below: isWatched ? retry --> AttemptWatch(hedge) : retry)
        load(with: chain)
        terminal.answer(try held(0), .serviceUnavailable)
        terminal.answer(try held(0))
        #expect(events.events == ["200 "])
        if isWatched { return try expectNoHedge(.pushback, hedge, chain) }
        load(with: chain)
        timers.advance(by: .seconds(1))
        #expect(terminal.held.count == 2)
    }

    @Test func secondAttemptIsNotSentThroughOpenCircuit() throws {
        let hedge = makeHedge()
        let breaker = CircuitBreaker(
            CircuitBreaker.Settings(minimumNumberOfCalls: 12, jitter: 0), timers: timers,
            verdict: { $0.response?.status == .internalServerError ? .failure : .success })
        let chain = trained(hedge, below: breaker)
        // A request is on its way while the circuit opens: the second attempt is refused, and costs nothing.
        load(with: chain)
        for _ in 0..<30 {
            load(HTTPRequest(method: .post, host: "example.com", path: "/"), with: chain)
            if terminal.held.count > 1 { terminal.answer(try held(1), .internalServerError) }
        }
        #expect(breaker.state(of: "example.com") == .open)
        timers.advance(by: .milliseconds(100))
        #expect(terminal.held.count == 1 && hedge.snapshot.sent == 0, "\(hedge.snapshot)")
        terminal.answer(try held(0), body: "first")
        #expect(events.events.contains("200 first"))
    }

    @Test func hedgeRefusedBelowIsGivenBackToBudget() throws {
        let hedge = makeHedge(Hedge.Settings(share: 0.1, minimumNumberOfSamples: 10))
        let refusing = Locked(false)
        let below = Refusing(refusing)
        let chain = trained(hedge, below: below)
        for _ in 0..<2 {
            load(with: chain)
            refusing.withLock { $0 = true }
            timers.advance(by: .milliseconds(100))
            refusing.withLock { $0 = false }
            #expect(terminal.held.count == 1)
            terminal.answer(try held(0))
        }
        // The budget had one hedge, which was given back.
        #expect(hedge.snapshot.suppressed[.refused] == 2 && hedge.snapshot.sent == 0, "\(hedge.snapshot)")
    }

    @Test func fullThrottleSuppressesSecondAttempt() throws {
        let hedge = makeHedge(Hedge.Settings(share: 0.1, minimumNumberOfSamples: 10))
        let throttle = Throttle(maximumNumberOfRequests: 1, maximumWaiting: 1, timers: timers)
        let chain = trained(hedge, below: throttle)
        try expectNoHedge(.queue, hedge, chain)
        #expect(throttle.snapshot.total == Throttle.Snapshot.Counts())
        // The hedge was given back, and takes a slot when there is one.
        throttle.maximumNumberOfRequests = 2
        load(with: chain)
        timers.advance(by: .seconds(1))
        #expect(terminal.held.count == 2 && throttle.snapshot.total.running == 2)
        terminal.answer(try held(1))
        #expect(throttle.snapshot.total.running == 0)
    }

    /// Requests to another host wait; this one's host and the throttle have slots.
    @Test func queueOfAnotherHostDoesNotSuppressSecondAttempt() throws {
        let hedge = makeHedge()
        let throttle = Throttle(maximumNumberOfRequests: 10, perHost: 2, timers: timers)
        let chain = trained(hedge, below: throttle)
        load(with: chain)
        for _ in 0..<3 { load(HTTPRequest(host: "busy.test"), with: chain) }
        #expect(throttle.snapshot.total == Throttle.Snapshot.Counts(running: 3, waiting: 1))
        timers.advance(by: .milliseconds(100))
        #expect(terminal.held.count { $0.request.host == "example.com" } == 2)
        #expect(hedge.snapshot.suppressed[.queue] == nil)
    }

    @Test func serverOfRedirectDoesNotPauseHedgesOfTheOneThatRedirects() throws {
        let hedge = makeHedge()
        let chain = trained(hedge)
        load(with: chain)
        var request = try held(0).request
        request.host = "other.test"
        try held(0).complete(.success(HTTPResponse(request: request, status: .serviceUnavailable)))
        load(with: chain)
        timers.advance(by: .milliseconds(100))
        #expect(terminal.held.count == 2, "\(hedge.snapshot)")
    }

    @Test func secondAttemptDoesNotDisplaceQueuedTask() throws {
        let hedge = makeHedge()
        let throttle = Throttle(maximumNumberOfRequests: 1, maximumWaiting: 1, timers: timers)
        let chain = trained(hedge, below: throttle)
        var low = HTTPRequest.sample
        low.priority = .low
        load(with: chain)
        load(low, with: chain)
        timers.advance(by: .milliseconds(100))
        #expect(throttle.snapshot.total == Throttle.Snapshot.Counts(running: 1, waiting: 1))
        #expect(!events.events.contains { $0.hasPrefix("queueFull") })
    }

    @Test func timeInQueueDoesNotCountTowardsDelay() throws {
        let hedge = makeHedge()
        let throttle = Throttle(maximumNumberOfRequests: 2, timers: timers)
        let chain = trained(hedge, below: throttle)
        throttle.maximumNumberOfRequests = 0
        load(with: chain)
        timers.advance(by: .seconds(5))
        #expect(terminal.held.isEmpty && hedge.snapshot.sent == 0)
        throttle.maximumNumberOfRequests = 2
        #expect(terminal.held.count == 1)
        timers.advance(by: .milliseconds(99))
        #expect(terminal.held.count == 1)
        timers.advance(by: .milliseconds(1))
        #expect(terminal.held.count == 2)
    }

    @Test func retryBudgetOrShareSuppressesHedges() throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, window: .seconds(2), timers: timers)
        let hedge = makeHedge(budget: budget)
        let chain = trained(hedge)
        timers.advance(by: .seconds(10))
        for number in 0..<3 {
            load(with: chain)
            timers.advance(by: .milliseconds(100))
            #expect(terminal.held.count == (number < 2 ? 2 : 1))
            terminal.answerAll()
        }
        #expect(hedge.snapshot.suppressed[.budget] == 1 && budget.remaining == 0)

        let poor = makeHedge(Hedge.Settings(share: 0, minimumNumberOfSamples: 10))
        try expectNoHedge(.budget, poor, trained(poor))
    }

    @Test func conditionIsEvaluatedWhenFirstAttemptIsSlow() throws {
        let holds = Locked(false)
        let hedge = makeHedge(condition: { _ in holds.withLock { $0 } })
        let chain = trained(hedge)
        try expectNoHedge(.condition, hedge, chain)
        load(with: chain)
        holds.withLock { $0 = true }
        timers.advance(by: .seconds(1))
        #expect(terminal.held.count == 2)
    }

    // MARK: Cancels and resets

    @Test(arguments: [true, false]) func cancelReachesAllAttemptsAndWaitsForThem(isHedged: Bool) throws {
        let terminal = ScriptedTerminal(onCancel: .waits)
        let hedge = makeHedge(Hedge.Settings(share: 1, minimumNumberOfSamples: 1))
        let chain = hedge --> terminal
        for _ in 0..<2 {
            chain.load(request: .sample) { _ in }
            terminal.answer(try #require(terminal.held.first))
        }
        let task = load(with: chain)
        if isHedged { timers.advance(by: .seconds(1)) }
        let attempts = terminal.held
        #expect(attempts.count == (isHedged ? 2 : 1))
        task.cancel()
        #expect(attempts.allSatisfy(\.isCancelled) && timers.pendingCount == 0)
        for attempt in attempts {
            #expect(!task.isCompleted)
            terminal.answer(attempt)
        }
        #expect(task.isCompleted && events.events.contains("cancelled "))
        timers.advance(by: .seconds(10))
        #expect("\(chain)".contains("running 0"))
    }

    /// A cancel or a response comes at the moment at which the second attempt is due.
    @Test(arguments: [true, false]) func hedgeThatEndsWhenDueIsNotCountedAsSent(isCancelled: Bool) throws {
        let hedge = makeHedge(Hedge.Settings(quantile: 0.5, share: 1, burst: 1_000, minimumNumberOfSamples: 1))
        let counter = LoadCounter()
        let chain = trained(hedge, below: counter)
        let (before, passedBefore) = (hedge.snapshot, counter.count)
        let rounds = testSize(usually: 300)
        for _ in 0..<rounds {
            let task = load(with: chain)
            let first = try held(0)
            try onThreads(2) { [timers, terminal] thread in
                if thread == 0 {
                    timers.advance(by: .milliseconds(100))
                } else if isCancelled {
                    task.cancel()
                } else {
                    terminal.answer(first)
                }
            }
            #expect(task.isCompleted && terminal.held.isEmpty && timers.pendingCount == 0)
            // Without quick ones in between, the server would be slow as a whole.
            load(with: chain)
            terminal.answer(try held(0))
        }
        let snapshot = hedge.snapshot
        #expect(snapshot.sent - before.sent == counter.count - passedBefore - 2 * rounds)
        #expect(snapshot.lost - before.lost == snapshot.sent - before.sent && snapshot.won == before.won)
        #expect("\(chain)".contains("running 0"))
    }

    @Test func resetEndsAllAttemptsAndForgetsTimes() async throws {
        let chain = trained(makeHedge())
        load(with: chain)
        load(with: chain)
        timers.advance(by: .milliseconds(100))
        load(with: chain)
        #expect(terminal.held.count == 5)
        await chain.reset()
        #expect(terminal.held.isEmpty && timers.pendingCount == 0)
        #expect("\(chain)".contains("running 0"))
        load(with: chain)
        timers.advance(by: .seconds(10))
        #expect(terminal.held.count == 1)
    }

    @Test func hedgeAndTaskAreReleased() throws {
        weak var released: Hedge?
        weak var released2: HTTPTask?
        do {
            let hedge = makeHedge()
            released = hedge
            let chain = trained(hedge)
            released2 = load(with: chain)
            timers.advance(by: .milliseconds(100))
            terminal.answer(try held(1))
        }
        #expect(released == nil && released2 == nil)
    }

    // MARK: What the loser leaves behind

    @Test func tapAboveCountsRequestsAndTapBelowCountsAttempts() throws {
        let upper = RecordingSink(), lower = RecordingSink()
        let hedge = makeHedge(Hedge.Settings(share: 1, minimumNumberOfSamples: 1))
        let chain =
            MetricsTap(MetricRecorder(upper, timers: timers)) --> hedge
            --> MetricsTap(MetricRecorder(lower, timers: timers)) --> terminal
        load(with: chain)
        timers.advance(by: .milliseconds(100))
        terminal.answer(try held(0))
        load(with: chain)
        timers.advance(by: .milliseconds(150))
        terminal.answer(try held(1))
        #expect(upper.metrics.map(\.attempts) == [1, 2])
        #expect(upper.metrics.map(\.outcome.kind) == [.success, .success])
        #expect(lower.metrics.map(\.outcome.kind).filter { $0 == .success }.count == 2)
        #expect(lower.metrics.map(\.outcome.kind).filter { $0 == .cancelled }.count == 1)
        #expect(upper.metrics.map(\.waiting) == [.zero, .zero])
    }

    @Test func rejectionOfLosingAttemptDoesNotRequestToken() async throws {
        let terminal = ScriptedTerminal(onCancel: .waits)
        let asked = EventLog()
        let source = ClosureSource { _, _ in
            asked.note("asked")
            return BearerToken(accessToken: "a", lifetime: .seconds(1_000))
        }
        let hedge = makeHedge(Hedge.Settings(share: 1, minimumNumberOfSamples: 1))
        let chain = BearerAuth(hosts: .all, source: source, timers: timers) --> hedge --> terminal
        load(with: chain)
        terminal.answer(await terminal.next())
        load(with: chain)
        let first = await terminal.next()
        timers.advance(by: .seconds(1))
        let second = await terminal.next()
        terminal.answer(second, body: "second")
        terminal.answer(first, .unauthorized)
        #expect(events.events.contains("200 second") && asked.events == ["asked"])
    }

    // MARK: The contract

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient, tasks: 1_000) { timers in
            Hedge(
                Hedge.Settings(quantile: 0.5, share: 1, minimumNumberOfSamples: 1, minimumDelay: .zero), timers: timers)
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func concurrentRacesCancelsAndResetsEndEveryTask() async throws {
        let hedge = Hedge(Hedge.Settings(quantile: 0.5, share: 1, minimumNumberOfSamples: 1, minimumDelay: .zero))
        let chain = hedge --> ChanceTerminal(seed: 5)
        let (threads, tasks) = (4, 50)
        let ends = EventLog()
        try onThreads(threads) { thread in
            var random = SeededGenerator(seed: UInt64(thread))
            for _ in 0..<tasks {
                let task = chain.load(request: .sample) { _ in ends.note("end") }
                switch random.next() % 8 {
                case 0: task.cancel()
                case 1 where random.next() % 5 == 0: chain.reset {}
                default: break
                }
            }
        }
        await ends.waitForEvents(threads * tasks)
        await chain.reset()
        // The last losers may be about to be counted, and to leave the list.
        try await eventually("every hedge has won or lost, and nothing runs") {
            let snapshot = hedge.snapshot
            return snapshot.sent == snapshot.won + snapshot.lost && "\(chain)".contains("running 0")
        }
    }
}

/// Fails every task while it is to.
private final class Refusing: HTTPLoader, @unchecked Sendable {
    private let refuses: Locked<Bool>
    init(_ refuses: Locked<Bool>) { self.refuses = refuses }

    override func load(task: HTTPTask) {
        if refuses.withLock({ $0 }) { fail(task, .cannotConnect) } else { super.load(task: task) }
    }
}

/// Responds at once or a little later, with success or failure, at random.
private final class ChanceTerminal: HTTPLoader, @unchecked Sendable {
    private let random: RandomSource

    init(seed: UInt64) { random = RandomSource(seed: seed) }

    override func load(task: HTTPTask) {
        switch random.next() % 8 {
        case 0: fail(task, .connectionLost)
        case 1: task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
        case 2, 3:
            SystemTimers.shared.schedule(after: .milliseconds(2)) {
                task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
            }
        default:
            DispatchQueue.global().async {
                task.complete(.success(HTTPResponse(request: task.request, status: .notFound)))
            }
        }
    }
}

/// Counts the tasks that it passes on.
private final class LoadCounter: HTTPLoader, @unchecked Sendable {
    private let loads = Locked(0)
    var count: Int { loads.withLock { $0 } }

    override func load(task: HTTPTask) {
        loads.withLock { $0 += 1 }
        super.load(task: task)
    }
}
