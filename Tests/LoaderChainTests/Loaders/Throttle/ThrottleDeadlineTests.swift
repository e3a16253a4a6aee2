import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Tasks with deadlines in a throttle.
@Suite(.timeLimit(.minutes(10))) struct ThrottleDeadlineTests {
    private let timers = ManualTimers()
    private let terminal = ScriptedTerminal()
    private let log = EventLog()

    private func throttle(perHost: UInt? = nil, deadline: Duration? = nil) -> HTTPLoader {
        Throttle(maximumNumberOfRequests: 1, perHost: perHost, queueTimeout: deadline, timers: timers) --> terminal
    }

    private func load(
        _ path: String, host: String = "a", of kind: String = "usual", within time: Duration?, with chain: HTTPLoader
    ) {
        var request = HTTPRequest(host: host, path: path)
        request.route = kind
        request.deadline = time.map { .after($0, on: timers) }
        chain.load(request: request) { [log] result in
            log.note("\(path) \(result.summary)\(result.error.map { " " + ($0.loader ?? "") } ?? "")")
        }
    }

    private func answer(after time: Duration = .zero) {
        timers.advance(by: time)
        if let task = terminal.held.first { terminal.answer(task) }
    }

    /// Lets it learn that tasks that have waited take so long.
    private func teach(_ time: Duration, _ chain: HTTPLoader, host: String = "a", of kind: String = "usual") {
        load("/taught", host: host, of: kind, within: nil, with: chain)
        for _ in 0..<20 {
            load("/taught", host: host, of: kind, within: .seconds(1_000), with: chain)
            answer(after: time)
        }
        answer(after: time)
        #expect(Set(log.events) == ["/taught response"])
    }

    private var events: [String] { log.events.filter { $0 != "/taught response" } }

    @Test(arguments: [nil, 1] as [UInt?])
    func waiterFailsAtItsDeadline(perHost: UInt?) {
        let chain = throttle(perHost: perHost)
        load("/1", within: nil, with: chain)
        load("/2", within: .seconds(2), with: chain)
        load("/3", within: .seconds(1), with: chain)
        timers.advance(by: .seconds(1))
        #expect(events == ["/3 deadlineExceeded Throttle"])
        timers.advance(by: .seconds(1))
        #expect(events == ["/3 deadlineExceeded Throttle", "/2 deadlineExceeded Throttle"])
        answer()
        #expect(timers.pendingCount == 0 && "\(chain)".contains("running 0, waiting 0"))
    }

    @Test func runningTaskFreesItsSlotAtItsDeadline() {
        let chain = throttle()
        load("/1", within: .seconds(2), with: chain)
        load("/2", within: nil, with: chain)
        timers.advance(by: .seconds(2))
        #expect(events == ["/1 deadlineExceeded ScriptedTerminal"])
        #expect(terminal.held.map(\.request.path) == ["/2"])
        answer()
    }

    @Test(arguments: [nil, 1] as [UInt?])
    func waiterWithTooLittleTimeYieldsToAnother(perHost: UInt?) {
        let chain = throttle(perHost: perHost)
        teach(.milliseconds(100), chain)
        load("/1", within: .seconds(1), with: chain)
        load("/2", within: .milliseconds(180), with: chain)
        load("/3", within: .milliseconds(400), with: chain)
        answer(after: .milliseconds(90))
        // The slot is given away before the caller has the response.
        #expect(events == ["/2 deadlineExceeded Throttle", "/1 response"])
        #expect(terminal.held.map(\.request.path) == ["/3"])
        answer()
    }

    @Test func lastWaiterIsStartedDespiteLittleTime() {
        let chain = throttle()
        teach(.milliseconds(100), chain)
        load("/1", within: .seconds(1), with: chain)
        load("/2", within: .milliseconds(180), with: chain)
        answer(after: .milliseconds(90))
        answer(after: .milliseconds(80))
        #expect(events == ["/1 response", "/2 response"])
    }

    @Test func newcomerToEmptyQueueIsAcceptedDespiteLittleTime() throws {
        let chain = throttle()
        teach(.milliseconds(100), chain)
        load("/1", within: .milliseconds(80), with: chain)
        load("/2", within: .milliseconds(80), with: chain)
        answer()
        answer()
        #expect(events == ["/1 response", "/2 response"])
    }

    @Test func errorReasonGivesTimeWaitedAndLeft() throws {
        let seen = Locked<HTTPError?>(nil)
        let chain = throttle()
        teach(.milliseconds(100), chain)
        load("/1", within: .seconds(1), with: chain)
        var request = HTTPRequest(host: "a", path: "/2")
        request.route = "usual"
        request.deadline = .after(.milliseconds(180), on: timers)
        chain.load(request: request) { result in seen.withLock { $0 = result.error } }
        load("/3", within: .seconds(1), with: chain)
        answer(after: .milliseconds(90))
        let reason = try #require(seen.withLock { $0 }?.reason)
        #expect(
            reason.hasPrefix("It waited for 0.09 seconds, and only 0.09 seconds are left; similar tasks take up to 0.1")
        )
        answer()
    }

    @Test func expiredEventReportsUsualTime() throws {
        let events = Locked<[Throttle.Event]>([])
        let throttle = Throttle(limit: 1, timers: timers, onEvent: { event in events.withLock { $0.append(event) } })
        let chain = throttle --> terminal
        teach(.milliseconds(100), chain)
        load("/1", within: nil, with: chain)
        load("/2", within: .milliseconds(80), with: chain)
        load("/3", within: .milliseconds(180), with: chain)
        load("/4", within: nil, with: chain)
        answer(after: .milliseconds(90))
        let expired = events.withLock { $0.filter { $0.kind == .expired } }
        // The first has had all of its time.
        #expect(expired.map { $0.usualTime == nil } == [true, false])
        let usual = try #require(expired.last?.usualTime)
        #expect(usual >= .milliseconds(100) && usual < .milliseconds(110))
        answer()
    }

    @Test func usualTimeIsLearnedPerHost() {
        let chain = throttle(perHost: 1)
        teach(.seconds(5), chain, host: "slow")
        teach(.milliseconds(10), chain, host: "fast")
        load("/1", host: "fast", within: nil, with: chain)
        load("/2", host: "slow", within: .milliseconds(80), with: chain)
        load("/3", host: "fast", within: .milliseconds(80), with: chain)
        answer()
        answer()
        #expect(events == ["/2 deadlineExceeded Throttle", "/1 response", "/3 response"])
    }

    /// The quick ones are not judged by the slow ones, nor the slow ones by the quick ones.
    @Test func usualTimeIsLearnedPerRoute() {
        let chain = throttle()
        teach(.milliseconds(450), chain, of: "slow")
        teach(.milliseconds(10), chain, of: "quick")
        load("/1", of: "slow", within: nil, with: chain)
        load("/2", of: "slow", within: .milliseconds(100), with: chain)
        load("/3", of: "quick", within: .milliseconds(100), with: chain)
        answer()
        answer()
        #expect(events == ["/2 deadlineExceeded Throttle", "/1 response", "/3 response"])
    }

    @Test func waiterIsNotGivenUpWhileSlotIsFree() {
        let throttle = Throttle(limit: 1, timers: timers)
        let chain = throttle --> terminal
        teach(.milliseconds(100), chain)
        load("/1", within: nil, with: chain)
        load("/2", within: .milliseconds(180), with: chain)
        load("/3", within: nil, with: chain)
        timers.advance(by: .milliseconds(90))
        throttle.maximumNumberOfRequests = 3
        #expect(terminal.held.map(\.request.path) == ["/1", "/2", "/3"])
        while !terminal.held.isEmpty { answer() }
    }

    /// Otherwise tasks of a kind that is always given up would never correct the old time.
    @Test func oldUsualTimeIsForgotten() {
        let chain = throttle()
        teach(.seconds(5), chain)
        load("/1", of: "other", within: nil, with: chain)
        for path in ["/2", "/3"] {
            load(path, within: .seconds(1), with: chain)
            load("/other", of: "other", within: nil, with: chain)
            answer()
            if path == "/2" { timers.advance(by: .seconds(60)) }
        }
        while !terminal.held.isEmpty { answer() }
        #expect(
            events == [
                "/2 deadlineExceeded Throttle", "/1 response", "/other response", "/3 response", "/other response",
            ])
    }

    @Test func refusalsDoNotChangeUsualTime() {
        let chain = throttle()
        load("/taught", within: nil, with: chain)
        for _ in 0..<20 {
            load("/taught", within: .seconds(1_000), with: chain)
            timers.advance(by: .seconds(5))
            if let task = terminal.held.first { terminal.answer(task, .serviceUnavailable) }
        }
        if let task = terminal.held.first { terminal.answer(task, .serviceUnavailable) }
        load("/1", within: .seconds(1), with: chain)
        load("/2", within: .milliseconds(180), with: chain)
        load("/3", within: .seconds(1), with: chain)
        answer()
        #expect(events == ["/1 response"])
        terminal.answerAll()
    }

    @Test(arguments: [nil, 1] as [UInt?])
    func deadlineRefusalBelowDoesNotChangeUsualTime(perHost: UInt?) {
        let refuses = Locked(true)
        let below = RefusesForTime { refuses.withLock { $0 } }
        let chain = Throttle(maximumNumberOfRequests: 1, perHost: perHost, timers: timers) --> below --> terminal
        refuses.withLock { $0 = false }
        load("/0", within: nil, with: chain)
        refuses.withLock { $0 = true }
        // All of them have waited.
        for _ in 0..<20 { load("/refused", within: .seconds(100), with: chain) }
        answer(after: .seconds(5))
        #expect(events.count == 21)
        refuses.withLock { $0 = false }
        load("/1", within: .seconds(100), with: chain)
        load("/2", within: .seconds(100), with: chain)
        load("/3", within: .milliseconds(80), with: chain)
        for _ in 0..<3 { answer() }
        #expect(events.suffix(3) == ["/1 response", "/2 response", "/3 response"])
    }

    // MARK: Callers who leave

    /// They leave at their deadline, or without a word; there is up to three times as much to do as the server can.
    @Test(arguments: [0.9, 1.2, 3], [true, false])
    func mostResponsesArriveBeforeCallersLeave(load: Double, haveDeadlines: Bool) {
        let run = Overload(
            load: load, service: .even, seconds: 30, deadline: haveDeadlines ? .milliseconds(250) : nil,
            patience: .milliseconds(250))
        #expect(run.goodput >= 0.85 * min(load, 1), "\(run.goodput) of the capacity")
        #expect(run.results == run.arrivals)
    }

    /// A task comes every millisecond and is cancelled after ten, and the server answers one in five milliseconds.
    @Test(arguments: [true, false])
    func newestWaiterGoesFirstOnlyWithAdaptiveLimit(isAdaptive: Bool) {
        let limit: ThrottleLimit = isAdaptive ? .adaptive(AdaptiveLimit(initial: 1, maximum: 1)) : .fixed(1)
        let chain = Throttle(limit: limit, timers: timers) --> terminal
        var tasks: [HTTPTask] = []
        var waits: [Int] = []
        for millisecond in 0..<500 {
            tasks.append(chain.load(request: HTTPRequest(host: "a", path: "/\(millisecond)")) { _ in })
            if millisecond >= 10 { tasks[millisecond - 10].cancel() }
            if millisecond % 5 == 4 {
                answer(after: .zero)
                waits.append(millisecond - (Int(terminal.held[0].request.path.dropFirst()) ?? 0))
            }
            timers.advance(by: .milliseconds(1))
        }
        // Now and then it is the oldest of those that have not left.
        let late = waits.suffix(40).count { $0 >= 8 }
        #expect(isAdaptive ? (1...4).contains(late) : late == 40, "\(waits)")
        for task in tasks { task.cancel() }
    }

    @Test func queueTimeoutLimitsOnlyTheWait() {
        let chain = throttle(deadline: .seconds(1))
        load("/1", within: nil, with: chain)
        load("/2", within: .seconds(5), with: chain)
        load("/3", within: .milliseconds(500), with: chain)
        timers.advance(by: .seconds(1))
        #expect(events == ["/3 deadlineExceeded Throttle", "/2 queueTimedOut Throttle"])
        answer()
        #expect(timers.pendingCount == 0)
    }

    // MARK: Overload

    @Test(arguments: [0.9, 1.2, 2])
    func quickTasksAreNotJudgedBySlowTasks(load: Double) {
        let run = Overload(load: load, service: .mixed, seconds: 60)
        #expect(run.quickOnesGivenUpWithTimeLeft == 0)
        #expect(run.goodput >= 0.9 * min(load, 1), "\(run.goodput) of the capacity")
        #expect(run.lateAnswers == 0 && run.results == run.arrivals)
    }

    @Test(arguments: [1.2, 2], [OverloadedService.constant, .even, .exponential])
    func mostCapacityYieldsResponsesInTime(load: Double, service: OverloadedService) {
        let run = Overload(load: load, service: service, seconds: 20)
        let goodput = run.goodput
        #expect(goodput >= 0.95, "\(goodput) of the capacity")
        #expect(goodput <= 1.1, "more than there is: \(goodput)")
        #expect(run.lateAnswers == 0)
        // Nothing is lost: every task has had its result.
        #expect(run.results == run.arrivals)
    }

    @Test func fewTasksAreGivenUpWithoutOverload() {
        let run = Overload(load: 0.7, service: .exponential, seconds: 20)
        #expect(run.goodput >= 0.7 * 0.98, "\(run.goodput)")
    }
}

/// Fails tasks before their deadline while it is told to, as a rate limit does.
private final class RefusesForTime: HTTPLoader, @unchecked Sendable {
    private let refuses: @Sendable () -> Bool
    init(_ refuses: @escaping @Sendable () -> Bool) { self.refuses = refuses }

    override func load(task: HTTPTask) {
        if refuses() { fail(task, .deadlineExceeded) } else { super.load(task: task) }
    }
}

enum OverloadedService: String, Sendable {
    case constant, even, exponential
    /// Four of five take 10 milliseconds, and have a route of their own.
    case mixed

    func time(_ chance: Double, _ request: HTTPRequest) -> Double {
        switch self {
        case .mixed, .constant: meanTime(request)
        case .even: meanTime(request) * (0.5 + chance)
        case .exponential: meanTime(request) * Self.exponential(chance)
        }
    }

    func meanTime(_ request: HTTPRequest) -> Double {
        switch self {
        case .mixed: request.route == "quick" ? 0.01 : 0.46
        case .constant, .even, .exponential: 0.1
        }
    }

    /// The time between events that come one a second by chance.
    static func exponential(_ chance: Double) -> Double { -(1 - chance).logarithm }
}

/// Callers that give up after a second, if at all, and a server that does ten requests at once in a tenth of a second each.
final class Overload: HTTPLoader, @unchecked Sendable {
    private let timers = ManualTimers()
    private let service: OverloadedService
    private let priorities: [ThrottlePriority]
    private let deadline: Duration?
    /// When the callers leave.
    private let patience: Duration?
    // Everything runs on the thread that advances the clock.
    private var random = SeededGenerator(seed: 17)
    private var workOfUse = 0.0
    private let seconds: Double
    private(set) var arrivals = 0
    private(set) var results = 0
    private(set) var lateAnswers = 0
    /// How many were given up, though five times as much time was left as they take.
    private(set) var quickOnesGivenUpWithTimeLeft = 0
    /// How many requests of each priority came, and how many of them were answered, while there was load.
    private(set) var arrived: [ThrottlePriority: Int] = [:]
    private(set) var answered: [ThrottlePriority: Int] = [:]
    private(set) var events: [Throttle.Event] = []
    private var isOver = false

    /// The share of the server's capacity that led to answers in time.
    var goodput: Double { workOfUse / (10 * seconds) }

    /// Runs it with one request after the other of the given priorities.
    init(
        load: Double, service: OverloadedService, seconds: Double, priorities: [ThrottlePriority] = [.normal],
        deadline: Duration? = .seconds(1), patience: Duration? = nil, overload: ThrottleOverload? = nil
    ) {
        self.patience = patience
        self.priorities = priorities
        self.deadline = deadline
        self.service = service
        self.seconds = seconds
        super.init()
        var onEvent: (@Sendable (Throttle.Event) -> Void)?
        if overload != nil { onEvent = { [unowned self] event in note(event) } }
        // Those that leave without a word can only be helped by an adaptive limit; it is always ten.
        let limit: ThrottleLimit =
            patience == nil ? 10 : .adaptive(AdaptiveLimit(initial: 10, minimum: 10, maximum: 10))
        let chain = Throttle(limit: limit, overload: overload, timers: timers, onEvent: onEvent) --> self
        let end = timers.now.advanced(by: .seconds(seconds))
        arrive(at: 100 * load, until: end, chain)
        while let next = timers.nextDeadline, next < end { timers.advanceToNext() }
        isOver = true
        timers.runAll(limit: .max)
    }

    private func note(_ event: Throttle.Event) { if !isOver { events.append(event) } }

    private func chance() -> Double { Double.random(in: 0..<1, using: &random) }

    private func arrive(at rate: Double, until end: TimerInstant, _ chain: HTTPLoader) {
        timers.schedule(after: .seconds(OverloadedService.exponential(chance()) / rate)) { [self] in
            guard timers.now < end else { return }
            let start = timers.now
            var request = HTTPRequest.sample
            if let deadline { request.deadline = .after(deadline, on: timers) }
            let priority = priorities[arrivals % priorities.count]
            request.priority = priority
            if service == .mixed { request.route = chance() < 0.8 ? "quick" : "slow" }
            arrivals += 1
            arrived[priority, default: 0] += 1
            let task = chain.load(request: request) { [self] result in
                results += 1
                let time = start.duration(to: timers.now)
                if result.error == nil { answered[priority, default: 0] += 1 }
                if time > .seconds(1) { lateAnswers += 1 }
                if result.error != nil, result.request.route == "quick", time < .milliseconds(950) {
                    quickOnesGivenUpWithTimeLeft += 1
                }
            }
            if let patience {
                let leaving = timers.schedule(after: patience) { task.cancel() }
                task.addCompletionHandler { _ in leaving.cancel() }
            }
            arrive(at: rate, until: end, chain)
        }
    }

    override func load(task: HTTPTask) {
        let work = service.time(chance(), task.request)
        let timer = timers.schedule(after: .seconds(work)) { [self] in
            if task.complete(.sample), !isOver { workOfUse += service.meanTime(task.request) }
        }
        task.addCancelHandler { task in
            timer.cancel()
            task.fail(.cancelled)
        }
    }
}
