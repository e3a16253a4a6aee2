import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Tasks with deadlines in a throttle.
@Suite(.timeLimit(.minutes(10))) struct ThrottleDeadlineTests {
    private let timers = ManualTimers()
    private let terminal = ScriptedTerminal()
    private let log = EventLog()

    private func throttle(perHost: UInt? = nil, deadline: Duration? = nil) -> HTTPLoader {
        Throttle(maximumNumberOfRequests: 1, perHost: perHost, deadline: deadline, timers: timers) --> terminal
    }

    private func load(_ path: String, host: String = "a", within time: Duration?, with chain: HTTPLoader) {
        var request = HTTPRequest(host: host, path: path)
        request.deadline = time.map { .after($0, on: timers) }
        chain.load(request: request) { [log] result in
            log.note("\(path) \(result.summary)\(result.error.map { " " + ($0.loader ?? "") } ?? "")")
        }
    }

    private func answer(after time: Duration = .zero) {
        timers.advance(by: time)
        if let task = terminal.held.first { terminal.answer(task) }
    }

    /// Lets it learn that tasks take so long.
    private func teach(_ time: Duration, _ chain: HTTPLoader, host: String = "a") {
        for _ in 0..<20 {
            load("/taught", host: host, within: .seconds(100), with: chain)
            answer(after: time)
        }
        #expect(Set(log.events) == ["/taught response"])
    }

    private var events: [String] { log.events.filter { $0 != "/taught response" } }

    @Test(arguments: [nil, 1] as [UInt?])
    func aWaiterEndsAtItsDeadline(perHost: UInt?) {
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

    @Test func aTaskThatRunsAtItsDeadlineGivesItsSlotBack() {
        let chain = throttle()
        load("/1", within: .seconds(2), with: chain)
        load("/2", within: nil, with: chain)
        timers.advance(by: .seconds(2))
        #expect(events == ["/1 deadlineExceeded ScriptedTerminal"])
        #expect(terminal.held.map(\.request.path) == ["/2"])
        answer()
    }

    @Test(arguments: [nil, 1] as [UInt?])
    func aWaiterThatCanNoLongerMakeItGivesWayToAnother(perHost: UInt?) {
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

    @Test func theLastWaiterGetsItsChance() {
        let chain = throttle()
        teach(.milliseconds(100), chain)
        load("/1", within: .seconds(1), with: chain)
        load("/2", within: .milliseconds(180), with: chain)
        answer(after: .milliseconds(90))
        answer(after: .milliseconds(80))
        #expect(events == ["/1 response", "/2 response"])
    }

    @Test func itFailsOnArrivalWhereItWouldWaitInVain() throws {
        let chain = throttle()
        teach(.milliseconds(100), chain)
        // Where it need not wait, it gets its chance.
        load("/1", within: .milliseconds(80), with: chain)
        load("/2", within: .milliseconds(80), with: chain)
        #expect(events == ["/2 deadlineExceeded Throttle"])
        answer()
        #expect(events.last == "/1 response")
    }

    @Test func theErrorSaysHowLongItWaited() throws {
        let seen = Locked<HTTPError?>(nil)
        let chain = throttle()
        teach(.milliseconds(100), chain)
        load("/1", within: .seconds(1), with: chain)
        var request = HTTPRequest(host: "a", path: "/2")
        request.deadline = .after(.milliseconds(180), on: timers)
        chain.load(request: request) { result in seen.withLock { $0 = result.error } }
        load("/3", within: .seconds(1), with: chain)
        answer(after: .milliseconds(90))
        let reason = try #require(seen.withLock { $0 }?.reason)
        #expect(
            reason.hasPrefix("It waited for 0.09 seconds, and the 0.09 seconds that are left are less than such tasks"))
        answer()
    }

    @Test func eachHostHasItsOwnPace() {
        let chain = throttle(perHost: 1)
        teach(.seconds(5), chain, host: "slow")
        teach(.milliseconds(10), chain, host: "fast")
        load("/1", host: "fast", within: nil, with: chain)
        load("/2", host: "fast", within: .milliseconds(80), with: chain)
        load("/3", host: "slow", within: .milliseconds(80), with: chain)
        #expect(events == ["/3 deadlineExceeded Throttle"])
        answer()
        answer()
        #expect(events.dropFirst() == ["/1 response", "/2 response"])
    }

    @Test func refusalsTeachNothing() {
        let chain = throttle()
        for _ in 0..<20 {
            load("/taught", within: .seconds(100), with: chain)
            timers.advance(by: .seconds(5))
            for task in terminal.held { terminal.answer(task, .serviceUnavailable) }
        }
        load("/1", within: .seconds(1), with: chain)
        load("/2", within: .milliseconds(180), with: chain)
        load("/3", within: .seconds(1), with: chain)
        answer()
        #expect(events == ["/1 response"])
        while let task = terminal.held.first { terminal.answer(task) }
    }

    @Test(arguments: [nil, 1] as [UInt?])
    func whatALoaderBelowRefusesForItsDeadlineTeachesNothing(perHost: UInt?) {
        let refuses = Locked(true)
        let below = RefusesForTime { refuses.withLock { $0 } }
        let chain = Throttle(maximumNumberOfRequests: 1, perHost: perHost, timers: timers) --> below --> terminal
        for _ in 0..<20 { load("/refused", within: .seconds(100), with: chain) }
        #expect(events.count == 20)
        refuses.withLock { $0 = false }
        // The first that takes its time is an exception, by which the others are not judged.
        load("/1", within: .seconds(100), with: chain)
        answer(after: .seconds(5))
        load("/2", within: .seconds(100), with: chain)
        load("/3", within: .milliseconds(80), with: chain)
        answer()
        answer()
        #expect(events.suffix(3) == ["/1 response", "/2 response", "/3 response"])
    }

    @Test func theThrottlesOwnDeadlineIsForTheWaitAlone() {
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

    @Test(arguments: [1.2, 2], OverloadedService.allCases)
    func mostOfTheCapacityIsOfUse(load: Double, service: OverloadedService) {
        let run = Overload(load: load, service: service, seconds: 20)
        let goodput = run.goodput
        #expect(goodput >= 0.95, "\(goodput) of the capacity")
        #expect(goodput <= 1.1, "more than there is: \(goodput)")
        #expect(run.lateAnswers == 0)
        // Nothing is lost: every task has had its result.
        #expect(run.results == run.arrivals)
    }

    @Test func withoutOverloadHardlyAnythingIsGivenUp() {
        let run = Overload(load: 0.7, service: .exponential, seconds: 20)
        #expect(run.goodput >= 0.7 * 0.98, "\(run.goodput)")
    }
}

/// Fails tasks before their deadline as long as it is to, as a rate limit does.
private final class RefusesForTime: HTTPLoader, @unchecked Sendable {
    private let refuses: @Sendable () -> Bool
    init(_ refuses: @escaping @Sendable () -> Bool) { self.refuses = refuses }

    override func load(task: HTTPTask) {
        if refuses() { fail(task, .deadlineExceeded) } else { super.load(task: task) }
    }
}

enum OverloadedService: String, CaseIterable, Sendable {
    case constant, even, exponential

    func time(_ chance: Double) -> Double {
        switch self {
        case .constant: 0.1
        case .even: 0.05 + 0.1 * chance
        case .exponential: Self.exponential(chance) * 0.1
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
    // Everything runs on the thread that advances the clock.
    private var random = SeededGenerator(seed: 17)
    private var good = 0
    private let seconds: Double
    private(set) var arrivals = 0
    private(set) var results = 0
    private(set) var lateAnswers = 0
    /// How many requests of each priority came, and how many of them were answered, while there was load.
    private(set) var arrived: [ThrottlePriority: Int] = [:]
    private(set) var answered: [ThrottlePriority: Int] = [:]
    private(set) var events: [Throttle.Event] = []
    private var isOver = false

    /// The share of the server's capacity that led to answers in time.
    var goodput: Double { Double(good) / (100 * seconds) }

    /// Runs it with one request after the other of the given priorities.
    init(
        load: Double, service: OverloadedService, seconds: Double, priorities: [ThrottlePriority] = [.normal],
        deadline: Duration? = .seconds(1), overload: ThrottleOverload? = nil
    ) {
        self.priorities = priorities
        self.deadline = deadline
        self.service = service
        self.seconds = seconds
        super.init()
        var onEvent: (@Sendable (Throttle.Event) -> Void)?
        if overload != nil { onEvent = { [unowned self] event in note(event) } }
        let chain = Throttle(limit: 10, overload: overload, timers: timers, onEvent: onEvent) --> self
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
            arrivals += 1
            arrived[priority, default: 0] += 1
            chain.load(request: request) { [self] result in
                results += 1
                if result.error == nil {
                    if !isOver { good += 1 }
                    answered[priority, default: 0] += 1
                }
                if start.duration(to: timers.now) > .seconds(1) { lateAnswers += 1 }
            }
            arrive(at: rate, until: end, chain)
        }
    }

    override func load(task: HTTPTask) {
        let timer = timers.schedule(after: .seconds(service.time(chance()))) { task.complete(.sample) }
        task.addCancelHandler { task in
            timer.cancel()
            task.fail(.cancelled)
        }
    }
}
