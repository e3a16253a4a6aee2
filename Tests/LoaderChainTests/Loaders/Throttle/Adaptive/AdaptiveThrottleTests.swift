import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// A throttle that finds its limits, seen from outside.
@Suite(.timeLimit(.minutes(10))) struct AdaptiveThrottleTests {
    @Test func limitRisesWhileResponsesStayFast() {
        let stage = Stage(AdaptiveLimit(initial: 2))
        defer { stage.end() }
        for number in 0..<100 { stage.load("/\(number)") }
        #expect(stage.terminal.held.count == 2)
        stage.serve(100)
        #expect(stage.throttle.adaptiveStatus.total.map { $0.limit > 2 } == true)
        #expect(stage.throttle.adaptiveStatus.total?.reason == .underLimit)
        #expect(stage.changes.first == .init(host: nil, from: 2, to: 4, reason: .underLimit))
        #expect(stage.throttle.adaptiveStatus.total?.serviceTime == .milliseconds(100))
        #expect(stage.most > 2)
    }

    @Test func limitFallsWhenServerRefuses() {
        let stage = Stage(AdaptiveLimit(initial: 5))
        defer { stage.end() }
        for number in 0..<10 { stage.load("/\(number)") }
        for task in stage.terminal.held { stage.terminal.answer(task, .tooManyRequests) }
        // Five were sent together, and lower the limit once; four others have started meanwhile.
        #expect(stage.throttle.adaptiveStatus.total?.limit == 4)
        #expect(stage.changes == [.init(host: nil, from: 5, to: 4, reason: .pushedBack)])
        #expect(stage.terminal.held.count == 4)
        #expect("\(stage.throttle)".contains("limit 4, running 4"))
    }

    @Test func eachRefusalAfterRushLowersLimit() {
        let stage = Stage(AdaptiveLimit(initial: 100, maximum: 100))
        defer { stage.end() }
        // So many at once that few are timed from now on.
        for number in 0..<5_000 {
            stage.load("/\(number)")
            stage.answerAll()
        }
        var (limits, heard) = ([100], stage.changes.count)
        for number in 0..<8 {
            let task = stage.load("/late/\(number)")
            stage.timers.advance(by: .seconds(1))
            stage.terminal.answer(task, .tooManyRequests)
            heard += 1
            #expect(stage.changes.count == heard)
            limits.append(stage.throttle.adaptiveStatus.total?.limit ?? 0)
        }
        #expect(limits == [100, 80, 64, 51, 41, 33, 26, 21, 17])
    }

    @Test func simultaneousRefusalsAfterRushCountOnce() {
        let stage = Stage(AdaptiveLimit(initial: 100, maximum: 100))
        defer { stage.end() }
        for number in 0..<5_000 {
            stage.load("/\(number)")
            stage.answerAll()
        }
        for number in 0..<100 { stage.load("/together/\(number)") }
        for task in stage.terminal.held { stage.terminal.answer(task, .tooManyRequests) }
        #expect(stage.throttle.adaptiveStatus.total?.limit == 80)
    }

    @Test func pausedHostIsNotForgotten() {
        let timers = ManualTimers()
        let refuses = Locked(false)
        let throttle = Throttle(limit: .fixed(1_000), perHost: .adaptive(), timers: timers)
        let chain =
            throttle
            --> ScriptedTerminal { _ in
                refuses.withLock { $0 } ? .success(.tooManyRequests, headers: ["Retry-After": "30"]) : .success(.ok)
            }
        let ended = Locked(0)
        func load(_ host: String) {
            chain.load(request: HTTPRequest(host: host, path: "/")) { _ in ended.withLock { $0 += 1 } }
        }
        let hosts = (0..<64).map { "host\($0)" }
        // So many that only some of them are timed from now on.
        for host in hosts { for _ in 0..<70 { load(host) } }
        timers.advance(by: .seconds(700))
        refuses.withLock { $0 = true }
        for host in hosts { load(host) }
        refuses.withLock { $0 = false }
        for host in hosts { load(host) }
        #expect(throttle.snapshot.total.waiting == 64)
        // A new host has those forgotten that were not used for long.
        load("new")
        timers.advance(by: .seconds(31))
        #expect(throttle.snapshot.total == .init())
        #expect(ended.withLock { $0 } == 64 * 72 + 1)
    }

    /// The handler's request makes a new host, for which the others are looked through while the pause is being noted.
    @Test func hostThatIsAboutToPauseIsNotForgotten() {
        let (timers, box, hasLoaded) = (ManualTimers(), Locked<HTTPLoader?>(nil), Locked(false))
        let throttle = Throttle(limit: .fixed(100_000), perHost: .adaptive(), timers: timers) { event in
            guard event.kind == .limitMoved, !hasLoaded.withLock({ replace(&$0, with: true) }) else { return }
            box.withLock { $0 }?.load(request: HTTPRequest(host: "new")) { _ in }
        }
        let chain =
            throttle
            --> ScriptedTerminal { request in
                request.host == "refusing"
                    ? .success(.serviceUnavailable, headers: ["Retry-After": "5"]) : .success(.ok)
            }
        box.withLock { $0 = chain }
        for host in 0..<4_095 { chain.load(request: HTTPRequest(host: "host\(host)")) { _ in } }
        chain.load(request: HTTPRequest(host: "refusing")) { _ in }
        #expect(hasLoaded.withLock { $0 })
        timers.advance(by: .seconds(60))
        chain.load(request: HTTPRequest(host: "refusing")) { _ in }
        timers.advance(by: .seconds(60))
        #expect(throttle.snapshot.total == .init())
        box.withLock { $0 = nil }
    }

    @Test func serverOfRedirectDoesNotLowerLimitOfTheOneThatRedirects() {
        let stage = Stage(limit: 1_000, perHost: .adaptive(AdaptiveLimit(initial: 4)))
        defer { stage.end() }
        for (sent, expected) in [("other.com", [Int]()), ("example.com", [0])] {
            let task = stage.load("/")
            var request = stage.terminal.held[0].request
            request.host = sent
            stage.terminal.held[0].complete(
                .success(
                    HTTPResponse(request: request, status: .serviceUnavailable, headers: ["Retry-After": "10"])))
            #expect(task.isCompleted)
            let limits = stage.throttle.adaptiveStatus.hosts.values.map(\.limit)
            #expect(limits.filter { $0 < 4 } == expected)
        }
    }

    /// A limit for all hosts is also one for those that redirects lead to.
    @Test func refusalAfterRedirectLowersLimitOfAllHosts() {
        let stage = Stage(AdaptiveLimit(initial: 4))
        defer { stage.end() }
        stage.load("/")
        var request = stage.terminal.held[0].request
        request.host = "other.com"
        stage.terminal.held[0].complete(.success(HTTPResponse(request: request, status: .serviceUnavailable)))
        #expect(stage.throttle.adaptiveStatus.total?.limit ?? 4 < 4)
    }

    /// Hosts that were used once are forgotten after a moment; of those about which something is known, this many stay.
    @Test(arguments: [1, 12])
    func numberOfRememberedHostsIsBounded(_ requests: Int) {
        let timers = ManualTimers()
        let throttle = Throttle(limit: .fixed(1_000), perHost: .adaptive(), timers: timers)
        let chain = throttle --> ScriptedTerminal { _ in .success(.ok) }
        var most = 0
        for host in 0..<10_000 {
            for _ in 0..<requests { chain.load(request: HTTPRequest(host: "host\(host)", path: "/")) { _ in } }
            timers.advance(by: .milliseconds(10))
            if host.isMultiple(of: 100) { most = max(most, throttle.adaptiveStatus.hosts.count) }
        }
        #expect((requests == 1 ? 1_000...2_500 : 4_000...8_192).contains(most), "\(most)")
    }

    @Test func throttlePausesForRetryAfter() {
        let stage = Stage(AdaptiveLimit(initial: 5))
        defer { stage.end() }
        for number in 0..<10 { stage.load("/\(number)") }
        let held = stage.terminal.held
        stage.terminal.answer(held[0], .serviceUnavailable, headers: ["Retry-After": "3"])
        stage.terminal.answer(held[1], .serviceUnavailable, headers: ["Retry-After": "2"])
        stage.terminal.answer(held[2])
        #expect(stage.throttle.adaptiveStatus.total?.limit == 0)
        let running = stage.terminal.held.count
        stage.timers.advance(by: .milliseconds(2_999))
        #expect(stage.terminal.held.count == running)
        stage.timers.advance(by: .milliseconds(1))
        #expect(stage.throttle.adaptiveStatus.total?.limit == 4)
        #expect(stage.terminal.held.count == 4)
        #expect(stage.changes.map(\.reason) == [.pushedBack, .paused, .resumed])
    }

    @Test func laterRefusalExtendsPauseUpToOneMinute() {
        let stage = Stage(AdaptiveLimit(initial: 3))
        defer { stage.end() }
        for number in 0..<5 { stage.load("/\(number)") }
        let held = stage.terminal.held
        stage.terminal.answer(held[0], .tooManyRequests, headers: ["Retry-After": "2"])
        stage.timers.advance(by: .seconds(1))
        stage.terminal.answer(held[1], .tooManyRequests, headers: ["Retry-After": "99999999999"])
        #expect(stage.timers.pendingCount == 1)
        stage.timers.advance(by: .seconds(59))
        #expect(stage.throttle.adaptiveStatus.total?.limit == 0)
        stage.timers.advance(by: .seconds(1))
        #expect(stage.throttle.adaptiveStatus.total?.limit == 2)
    }

    @Test func locallyEndedAttemptsDoNotMoveLimit() {
        let stage = Stage(AdaptiveLimit(initial: 3))
        defer { stage.end() }
        for number in 0..<30 { stage.load("/\(number)").cancel() }
        for number in 0..<3 { stage.load("/\(number)") }
        for task in stage.terminal.held { stage.terminal.refuse(task, .cannotConnect) }
        for number in 0..<3 { stage.load("/\(number)") }
        for task in stage.terminal.held { stage.terminal.forget(task) }
        #expect(stage.changes.isEmpty)
        #expect(stage.throttle.adaptiveStatus.total == .init(limit: 3))
    }

    @Test func timeoutsCountAsRefusals() {
        let stage = Stage(AdaptiveLimit(initial: 10))
        defer { stage.end() }
        stage.load("/")
        stage.terminal.refuse(stage.terminal.held[0], .timedOut)
        #expect(stage.throttle.adaptiveStatus.total?.limit == 8)
    }

    @Test func maximumNumberOfRequestsCapsAdaptiveLimit() {
        let stage = Stage(AdaptiveLimit(initial: 5))
        defer { stage.end() }
        stage.throttle.maximumNumberOfRequests = 2
        for number in 0..<10 { stage.load("/\(number)") }
        #expect(stage.terminal.held.count == 2)
        stage.throttle.maximumNumberOfRequests = 0
        stage.answerAll()
        #expect(stage.terminal.held.isEmpty && stage.throttle.snapshot.total.waiting == 8)
        stage.throttle.maximumNumberOfRequests = .max
        #expect(stage.terminal.held.count == 5)
    }

    // MARK: Hosts

    @Test func eachHostHasItsOwnLimit() {
        let stage = Stage(limit: 100, perHost: .adaptive(AdaptiveLimit(initial: 2)))
        defer { stage.end() }
        for number in 0..<4 {
            stage.load("/\(number)", host: "a.com")
            stage.load("/\(number)", host: "b.com")
        }
        #expect(stage.terminal.held.count == 4)
        for task in stage.terminal.held where task.request.host == "a.com" {
            stage.terminal.answer(task, .tooManyRequests, headers: ["Retry-After": "1"])
        }
        let status = stage.throttle.adaptiveStatus
        #expect(status.total == nil)
        #expect(status.hosts.mapValues(\.limit) == ["a.com": 0, "b.com": 2])
        #expect(stage.terminal.held.allSatisfy { $0.request.host == "b.com" })
        // A host that is not known yet, and one that has nothing left to do, keep theirs.
        stage.load("/", host: "c.com")
        #expect(stage.terminal.held.count == 3)
        stage.load("/late", host: "a.com")
        #expect(stage.terminal.held.count == 3)
        stage.timers.advance(by: .seconds(1))
        #expect(stage.throttle.adaptiveStatus.hosts["a.com"]?.reason == .resumed)
        #expect(stage.throttle.snapshot.hosts["a.com"]?.running == 2)
        #expect(stage.changes.allSatisfy { $0.host == "a.com" })
    }

    @Test func unusedHostIsForgottenToMakeRoom() {
        let stage = Stage(limit: 1_000, perHost: .adaptive(AdaptiveLimit(initial: 4)))
        defer { stage.end() }
        for number in 0..<64 { stage.load("/", host: "host-\(number).com") }
        for task in stage.terminal.held { stage.terminal.answer(task, .tooManyRequests) }
        #expect(stage.throttle.adaptiveStatus.hosts.count == 64)
        stage.timers.advance(by: .seconds(601))
        stage.load("/", host: "another.com")
        #expect(stage.throttle.adaptiveStatus.hosts.count == 1)
        for _ in 0..<5 { stage.load("/", host: "host-1.com") }
        #expect(stage.throttle.snapshot.hosts["host-1.com"] == .init(running: 4, waiting: 1))
    }

    // MARK: Attempts

    @Test func watchBelowRetrySeesEachAttempt() {
        let stage = Stage(AdaptiveLimit(initial: 10)) { throttle, timers in
            let budget = RetryBudget(ratio: 1, minimumPerSecond: 1_000, timers: timers)
            let strategy = Backoff.constant(delay: 1, maximumNumberOfAttempts: 3)
            return Retry(strategy, budget: budget, timers: timers) --> AttemptWatch(throttle)
        }
        defer { stage.end() }
        stage.load("/")
        stage.terminal.answer(stage.terminal.held[0], .serviceUnavailable)
        #expect(stage.throttle.adaptiveStatus.total?.limit == 8)
        stage.timers.advance(by: .seconds(1))
        stage.terminal.answer(stage.terminal.held[0], .serviceUnavailable)
        #expect(stage.throttle.adaptiveStatus.total?.limit == 6)
        stage.timers.advance(by: .seconds(1))
        stage.terminal.answer(stage.terminal.held[0])
        // The task itself is not taken for a fourth attempt.
        #expect(stage.changes.map(\.to) == [8, 6])
        #expect(stage.throttle.snapshot.total == .init())
    }

    @Test func watchThatSeesNoTaskIsReported() {
        let throttle = Throttle(limit: .adaptive(), timers: ManualTimers())
        let branch = AttemptWatch(throttle)
        let chain =
            throttle --> Choose(by: ThrottlePriority.self, [.high: branch])
            --> ScriptedTerminal { _ in .success(.ok) }
        for _ in 0..<101 { chain.load(request: .sample) { _ in } }
        #expect(throttle.details == "limit 4, running 0, waiting 0, its AttemptWatch sees none of them")
        var request = HTTPRequest.sample
        request.priority = .high
        chain.load(request: request) { _ in }
        for _ in 0..<200 { chain.load(request: .sample) { _ in } }
        #expect(throttle.details == "limit 4, running 0, waiting 0")
    }

    @Test func taskIsNotCountedBesideItsAttempt() {
        let stage = Stage(AdaptiveLimit(initial: 4)) { throttle, _ in AttemptWatch(throttle) }
        defer { stage.end() }
        // Two at a time use half of the limit, and would reach it if each were counted twice.
        for _ in 0..<40 {
            stage.load("/1")
            stage.load("/2")
            stage.serve(2)
        }
        #expect(stage.throttle.adaptiveStatus.total?.limit == 4)
        #expect(stage.changes.isEmpty)
    }

    @Test func attemptTimeExcludesPauseBeforeIt() {
        let stage = Stage(AdaptiveLimit(initial: 1, maximum: 1)) { throttle, timers in
            let budget = RetryBudget(ratio: 1, minimumPerSecond: 1_000, timers: timers)
            let strategy = Backoff.constant(delay: 7, maximumNumberOfAttempts: 2)
            return Retry(strategy, budget: budget, timers: timers) --> AttemptWatch(throttle)
        }
        defer { stage.end() }
        for number in 0..<20 {
            stage.load("/\(number)")
            stage.terminal.answer(stage.terminal.held[0], .internalServerError)
            stage.timers.advance(by: .seconds(7))
            stage.timers.advance(by: .milliseconds(100))
            stage.terminal.answer(stage.terminal.held[0])
        }
        #expect(stage.throttle.adaptiveStatus.total?.serviceTime == .milliseconds(100))
    }

    @Test func timeOfSeveralAttemptsIsIgnoredWithoutWatch() {
        let stage = Stage(AdaptiveLimit(initial: 4)) { _, timers in
            let budget = RetryBudget(ratio: 1, minimumPerSecond: 1_000, timers: timers)
            let strategy = Backoff.constant(delay: 7, maximumNumberOfAttempts: 2)
            return Retry(strategy, budget: budget, timers: timers)
        }
        defer { stage.end() }
        for number in 0..<20 {
            stage.load("/\(number)")
            stage.terminal.answer(stage.terminal.held[0], .internalServerError)
            stage.timers.advance(by: .seconds(7))
            stage.terminal.answer(stage.terminal.held[0])
        }
        #expect(stage.throttle.adaptiveStatus.total == .init(limit: 4))
    }

    @Test func timeToFirstByteIsUsedIfMeasured() {
        let stage = Stage(AdaptiveLimit(initial: 1, maximum: 1))
        defer { stage.end() }
        for number in 0..<20 {
            stage.load("/\(number)")
            stage.timers.advance(by: .seconds(9))
            stage.answer(
                stage.terminal.held[0],
                TransferMetrics(start: stage.timers.date, timeToFirstByte: .milliseconds(30), duration: .seconds(9)))
        }
        #expect(stage.throttle.adaptiveStatus.total?.serviceTime == .milliseconds(30))
    }

    @Test func redirectedResponsesAreNotTimed() {
        let stage = Stage(AdaptiveLimit(initial: 1, maximum: 1))
        defer { stage.end() }
        for number in 0..<20 {
            stage.load("/\(number)")
            let metrics = TransferMetrics(start: stage.timers.date, timeToFirstByte: .milliseconds(30), redirects: 1)
            stage.answer(stage.terminal.held[0], metrics)
        }
        #expect(stage.throttle.adaptiveStatus.total?.serviceTime == nil)
    }

    // MARK: Ends

    @Test func limitChangeHandlerCanUseTheThrottle() {
        let box = Locked<Throttle?>(nil)
        let heard = EventLog()
        let timers = ManualTimers()
        let throttle = Throttle(limit: .adaptive(AdaptiveLimit(initial: 5)), timers: timers) { event in
            guard let change = event.limitChange else { return }
            let throttle = box.withLock { $0 }
            heard.note("\(change.to) \(throttle?.adaptiveStatus.total?.limit ?? -1)")
            throttle?.maximumNumberOfRequests = 3
        }
        box.withLock { $0 = throttle }
        let terminal = ScriptedTerminal()
        let chain = throttle --> terminal
        chain.load(request: .sample) { _ in }
        terminal.answer(terminal.held[0], .tooManyRequests)
        #expect(heard.events == ["4 4"])
        #expect(throttle.maximumNumberOfRequests == 3)
        box.withLock { $0 = nil }
    }

    @Test func pauseDoesNotRetainTheThrottle() {
        let timers = ManualTimers()
        weak var gone: Throttle?
        do {
            let throttle = Throttle(limit: .adaptive(), timers: timers)
            gone = throttle
            let terminal = ScriptedTerminal { _ in .success(.tooManyRequests, headers: ["Retry-After": "5"]) }
            (throttle --> terminal).load(request: .sample) { _ in }
            #expect(timers.pendingCount == 1)
        }
        #expect(gone == nil)
        #expect(timers.pendingCount == 0)
    }

    @Test(arguments: [0, 1, 2] as [Int])
    func keepsTheContract(_ kind: Int) async {
        let violations = await ContractCheck(patience: .patient) { timers in
            let settings = AdaptiveLimit(initial: 2)
            switch kind {
            case 0: return Throttle(limit: .adaptive(settings), timers: timers)
            case 1: return Throttle(limit: 10, perHost: .adaptive(settings), timers: timers)
            default:
                let throttle = Throttle(limit: .adaptive(settings), perHost: .adaptive(settings), timers: timers)
                return throttle --> AttemptWatch(throttle)
            }
        }.run()
        #expect(violations.isEmpty)
    }
}

/// An adaptive throttle over a scripted terminal.
private final class Stage: Sendable {
    let throttle: Throttle
    let chain: HTTPLoader
    let terminal = ScriptedTerminal()
    let timers: ManualTimers
    private let log: Locked<[AdaptiveLimit.Change]>
    private let mostHeld = Locked(0)

    convenience init(_ settings: AdaptiveLimit, between: (Throttle, ManualTimers) -> HTTPLoader? = { _, _ in nil }) {
        self.init(limit: .adaptive(settings), perHost: nil, between: between)
    }

    init(
        limit: ThrottleLimit, perHost: ThrottleLimit?,
        between: (Throttle, ManualTimers) -> HTTPLoader? = { _, _ in nil }
    ) {
        let (timers, log) = (ManualTimers(), Locked<[AdaptiveLimit.Change]>([]))
        (self.timers, self.log) = (timers, log)
        throttle = Throttle(limit: limit, perHost: perHost, timers: timers) { event in
            if let change = event.limitChange { log.withLock { $0.append(change) } }
        }
        if let between = between(throttle, timers) {
            chain = throttle --> between --> terminal
        } else {
            chain = throttle --> terminal
        }
    }

    var changes: [AdaptiveLimit.Change] { log.withLock { $0 } }
    /// The most tasks that the terminal held at once in ``serve(_:)``.
    var most: Int { mostHeld.withLock { $0 } }

    @discardableResult
    func load(_ path: String, host: String = "example.com") -> HTTPTask {
        chain.load(request: HTTPRequest(host: host, path: path)) { _ in }
    }

    /// Answers so many, those of each round a tenth of a second after they came.
    func serve(_ count: Int) {
        var left = count
        while left > 0, !terminal.held.isEmpty {
            let round = terminal.held
            mostHeld.withLock { $0 = max($0, round.count) }
            timers.advance(by: .milliseconds(100))
            for task in round { terminal.answer(task) }
            left -= round.count
        }
    }

    /// Answers with a response whose transfer was measured.
    func answer(_ task: HTTPTask, _ metrics: TransferMetrics) {
        var response = HTTPResponse(request: task.request, status: .ok)
        response.metrics = metrics
        task.complete(.success(response))
    }

    func answerAll() {
        terminal.answerAll()
    }

    /// Lets everything come to its end, and sees that nothing remains.
    func end() {
        throttle.maximumNumberOfRequests = .max
        timers.runAll(limit: 100)
        answerAll()
        #expect(throttle.snapshot == Throttle.Snapshot())
        #expect(timers.pendingCount == 0)
    }
}
