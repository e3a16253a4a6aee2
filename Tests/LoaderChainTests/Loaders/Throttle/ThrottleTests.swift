import Dispatch
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// What a throttle does, seen from outside.
@Suite(.timeLimit(.minutes(10))) struct ThrottleTests {
    // MARK: The limit

    @Test func tasksBeyondLimitStartInOrder() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 2))
        defer { stage.end() }
        for number in 1...5 { stage.load("/\(number)") }
        #expect(stage.running == ["/1", "/2"])
        #expect(stage.throttle.snapshot.total == .init(running: 2, waiting: 3))
        stage.answer("/2")
        #expect(stage.running == ["/1", "/3"])
        stage.answerAll()
        #expect(stage.log.events == ["/2 response", "/1 response", "/3 response", "/4 response", "/5 response"])
        #expect(stage.throttle.snapshot == Throttle.Snapshot())
    }

    @Test func raisingTheLimitStartsWaitersAtOnce() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 0))
        defer { stage.end() }
        for number in 1...4 { stage.load("/\(number)") }
        #expect(stage.running.isEmpty)
        stage.throttle.maximumNumberOfRequests = 3
        #expect(stage.running == ["/1", "/2", "/3"])
        stage.throttle.maximumNumberOfRequests = .max
        #expect(stage.running == ["/1", "/2", "/3", "/4"])
    }

    @Test func loweringTheLimitLetsRunningTasksFinish() {
        let stage = Stage(Throttle())
        defer { stage.end() }
        for number in 1...3 { stage.load("/\(number)") }
        stage.throttle.maximumNumberOfRequests = 1
        stage.load("/4")
        #expect(stage.running == ["/1", "/2", "/3"])
        stage.answer("/1")
        stage.answer("/2")
        #expect(stage.running == ["/3"])
        stage.answer("/3")
        #expect(stage.running == ["/4"])
    }

    @Test func lowerPrioritiesThanMinimumFailAtOnce() {
        let events = EventLog()
        let stage = Stage(
            Throttle(
                limit: 1,
                onEvent: { event in if let priority = event.priority { events.note("\(event.kind) \(priority)") } }))
        defer { stage.end() }
        stage.load("/runs") { $0.priority = .low }
        stage.load("/waits") { $0.priority = .low }
        stage.load("/normal")
        stage.load("/high") { $0.priority = .high }
        stage.throttle.minimumPriority = .high
        #expect(stage.throttle.minimumPriority == .high)
        stage.load("/late")
        stage.load("/never") { ($0.priority, $0.throttle) = (.low, .never) }
        #expect(stage.log.events == ["/waits shed", "/normal shed", "/late shed"])
        #expect(stage.running == ["/runs", "/never"])
        #expect(events.events.filter { $0.hasPrefix("shed") } == ["shed low", "shed normal", "shed normal"])
        stage.answer("/runs")
        #expect(stage.running == ["/never", "/high"])
        stage.throttle.minimumPriority = .low
        stage.load("/again") { $0.priority = .low }
        stage.answer("/high")
        #expect(stage.running == ["/never", "/again"])
    }

    @Test func unthrottledRequestIsNotCounted() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 1))
        defer { stage.end() }
        stage.load("/1")
        stage.load("/2")
        stage.load("/3") { $0.throttle = .never }
        #expect(stage.running == ["/1", "/3"])
        #expect(stage.throttle.snapshot.total == .init(running: 1, waiting: 1))
        stage.answer("/3")
        #expect(stage.running == ["/1"])
    }

    @Test func identicalRequestsAreSeparateTasks() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 1))
        defer { stage.end() }
        let request = HTTPRequest.sample
        for number in 1...2 { stage.chain.load(request: request) { stage.log.note("\(number) \($0.summary)") } }
        #expect(stage.terminal.held.count == 1)
        stage.answerAll()
        #expect(stage.log.events == ["1 response", "2 response"])
    }

    @Test func failedAndAbandonedTasksFreeTheirSlots() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 1))
        defer { stage.end() }
        for number in 1...3 { stage.load("/\(number)") }
        stage.terminal.refuse(stage.terminal.held[0], .connectionLost)
        stage.terminal.forget(stage.terminal.held[0])
        #expect(stage.running == ["/3"])
        #expect(stage.log.events == ["/1 connectionLost", "/2 abandoned"])
    }

    // MARK: Priorities and hosts

    @Test func highestPriorityGoesFirst() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 0))
        defer { stage.end() }
        for (path, priority) in [("/1", .low), ("/2", .normal), ("/3", .high), ("/4", .normal)]
            as [(_, ThrottlePriority)]
        {
            stage.load(path) { $0.priority = priority }
        }
        stage.throttle.maximumNumberOfRequests = 1
        stage.answerAll()
        #expect(stage.log.events == ["/3 response", "/2 response", "/4 response", "/1 response"])
    }

    @Test func busyHostTakesNoSlotFromOthers() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 3, perHost: 1))
        defer { stage.end() }
        stage.load("/1") { $0.host = "slow.com" }
        stage.load("/2") { $0.host = "SLOW.com" }
        stage.load("/3") { $0.host = "quick.com" }
        #expect(stage.running == ["/1", "/3"])
        #expect(
            stage.throttle.snapshot.hosts == [
                "slow.com": .init(running: 1, waiting: 1), "quick.com": .init(running: 1),
            ])
        stage.answer("/1")
        #expect(stage.running == ["/3", "/2"])
        stage.answerAll()
        #expect(stage.throttle.snapshot == Throttle.Snapshot())
    }

    @Test func taskIsCountedForHostOnArrival() {
        let rewriting = RewritingLoader { $0.host = "elsewhere.com" }
        let throttle = Throttle(perHost: 1)
        let terminal = ScriptedTerminal()
        let chain = throttle --> rewriting --> terminal
        for _ in 1...2 { chain.load(request: .sample) { _ in } }
        #expect(throttle.snapshot.hosts == ["example.com": .init(running: 1, waiting: 1)])
        terminal.answerAll()
        #expect(throttle.snapshot.hosts.isEmpty)
    }

    @Test func perHostLimitCanBeAddedAndRemoved() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 0))
        defer { stage.end() }
        for number in 1...4 { stage.load("/\(number)") }
        stage.throttle.perHost = 1
        stage.throttle.maximumNumberOfRequests = .max
        #expect(stage.running == ["/1"])
        stage.throttle.perHost = 2
        #expect(stage.running == ["/1", "/2"])
        stage.throttle.perHost = nil
        #expect(stage.throttle.perHost == nil)
        #expect(stage.running == ["/1", "/2", "/3", "/4"])
    }

    @Test func idleHostsAreForgotten() {
        let throttle = Throttle(perHost: 2)
        let chain = throttle --> ScriptedTerminal { _ in .success() }
        for number in 1...1_000 { chain.load(request: HTTPRequest(host: "host-\(number).com")) { _ in } }
        throttle.maximumNumberOfRequests = 0
        for number in 1...1_000 { chain.load(request: HTTPRequest(host: "host-\(number).com")) { _ in }.cancel() }
        #expect(throttle.snapshot == Throttle.Snapshot())
    }

    // MARK: Waiting ends

    @Test func cancelledWaiterLeavesAtOnce() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 1))
        defer { stage.end() }
        stage.load("/1")
        let second = stage.load("/2")
        stage.load("/3")
        second.cancel()
        #expect(stage.log.events == ["/2 cancelled"])
        #expect(stage.throttle.snapshot.total == .init(running: 1, waiting: 1))
        stage.answer("/1")
        #expect(stage.running == ["/3"])
    }

    @Test func cancelledRunningTaskKeepsSlotUntilItStops() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 1), onCancel: .waits)
        defer { stage.end() }
        let first = stage.load("/1")
        stage.load("/2")
        first.cancel()
        #expect(stage.running == ["/1"])
        stage.answer("/1")
        #expect(stage.log.events == ["/1 cancelled"])
        #expect(stage.running == ["/2"])
    }

    @Test func waiterCompletedElsewhereLeavesTheQueue() {
        let stage = Stage(limit: 0, deadline: .seconds(1))
        defer { stage.end() }
        let task = HTTPTask(request: .sample) { stage.log.note($0.summary) }
        stage.chain.load(task: task)
        #expect(stage.timers.pendingCount == 1)
        task.complete(.sample)
        #expect(stage.throttle.snapshot.total == .init())
        #expect(stage.timers.pendingCount == 0)
        #expect(stage.log.events == ["response"])
    }

    @Test func completedOrCancelledTaskIsNotStarted() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 1))
        defer { stage.end() }
        let over = HTTPTask(request: .sample)
        over.complete(.sample)
        stage.throttle.load(task: over)
        let cancelled = HTTPTask(request: .sample) { stage.log.note($0.summary) }
        cancelled.cancel()
        stage.throttle.load(task: cancelled)
        #expect(stage.log.events == ["cancelled"])
        stage.throttle.maximumNumberOfRequests = 0
        let late = HTTPTask(request: .sample) { stage.log.note($0.summary) }
        late.cancel()
        stage.throttle.load(task: late)
        stage.throttle.load(task: over)
        #expect(stage.log.events == ["cancelled", "cancelled"])
        #expect(stage.terminal.requests.isEmpty)
        #expect(stage.throttle.snapshot.total == .init())
    }

    @Test func taskBeyondMaximumWaitingFailsAtOnce() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 1, maximumWaiting: 1))
        defer { stage.end() }
        for number in 1...3 { stage.load("/\(number)") }
        #expect(stage.log.events == ["/3 queueFull"])
        #expect(stage.errors.first?.loader == "Throttle")
        stage.answer("/1")
        stage.load("/4")
        stage.answerAll()
        #expect(stage.log.events == ["/3 queueFull", "/1 response", "/2 response", "/4 response"])
    }

    @Test func waiterFailsAtQueueTimeout() {
        let stage = Stage(deadline: .seconds(2))
        defer { stage.end() }
        stage.load("/1")
        stage.load("/2")
        stage.timers.advance(by: .seconds(1))
        stage.load("/3")
        stage.timers.advance(by: .seconds(1))
        #expect(stage.log.events == ["/2 queueTimedOut"])
        stage.answer("/1")
        #expect(stage.timers.pendingCount == 0)
        stage.timers.advance(by: .seconds(10))
        #expect(stage.running == ["/3"])
    }

    // MARK: Resetting

    @Test func resetFailsWaitersAndAwaitsRunningTasks() async {
        let stage = Stage(Throttle(maximumNumberOfRequests: 1), onCancel: .waits)
        defer { stage.end() }
        let group = DispatchGroup()
        stage.load("/1")
        stage.load("/2")
        group.enter()
        stage.throttle.reset(with: group)
        #expect(stage.log.events == ["/2 resetInProgress"])
        group.notify(queue: .global()) { stage.log.note("reset") }
        group.leave()
        stage.load("/3")
        stage.answer("/1")
        await stage.log.waitForEvents(3)
        // The reset is over as soon as the throttle has noted the end, a moment before the caller gets it.
        #expect(stage.log.events.dropFirst().sorted() == ["/1 cancelled", "reset"])
        #expect(stage.running == ["/3"])
    }

    @Test func resetDoesNotWaitForLaterTasks() async {
        let throttle = Throttle(maximumNumberOfRequests: 2)
        let terminal = HoldingTerminal()
        let chain = throttle --> terminal
        let log = EventLog()
        func reset(_ name: String) {
            let group = DispatchGroup()
            throttle.reset(with: group)
            group.notify(queue: .global()) { log.note(name) }
        }
        chain.load(request: .sample) { _ in }
        reset("first")
        chain.load(request: .sample) { _ in }
        reset("second")
        chain.load(request: .sample) { _ in }
        terminal.answerOldest()
        await log.waitForEvents(1)
        #expect(log.events == ["first"])
        terminal.answerOldest()
        await log.waitForEvents(2)
        #expect(log.events == ["first", "second"])
        #expect(throttle.snapshot.total == .init(running: 1, waiting: 0))
        terminal.answerOldest()
    }

    // MARK: Odds and ends

    @Test func releasedThrottleAbandonsItsWaiters() {
        let log = EventLog()
        weak var gone: Throttle?
        do {
            let throttle = Throttle(maximumNumberOfRequests: 0)
            gone = throttle
            for _ in 1...3 { (throttle as HTTPLoader).load(request: .sample) { log.note($0.summary) } }
        }
        #expect(gone == nil)
        #expect(log.events == ["abandoned", "abandoned", "abandoned"])
    }

    @Test func throttleOutlivesItsOwnerWhileTasksRun() {
        let terminal = ScriptedTerminal()
        let log = EventLog()
        weak var gone: Throttle?
        do {
            let throttle = Throttle(maximumNumberOfRequests: 1)
            gone = throttle
            let chain = throttle --> terminal
            for number in 1...3 { chain.load(request: .sample) { log.note("\(number) \($0.summary)") } }
        }
        terminal.answerAll()
        #expect(log.events == ["1 response", "2 response", "3 response"])
        #expect(gone == nil)
    }

    @Test func descriptionShowsLimitsAndCounts() {
        let stage = Stage(Throttle(maximumNumberOfRequests: 4, perHost: 2))
        defer { stage.end() }
        stage.load("/1")
        #expect(
            "\(stage.throttle)"
                == "Throttle(limit 4, per host 2, running 1, waiting 0) --> ScriptedTerminal(received 1, held 1)")
        #expect("\(Throttle())" == "Throttle(no limit, running 0, waiting 0)")
    }

    @Test(arguments: [0, 1, 2, 3, 4] as [Int])
    func keepsTheContract(_ kind: Int) async {
        let violations = await ContractCheck(patience: .patient) { timers in
            switch kind {
            case 0: Throttle(timers: timers)
            case 1: Throttle(maximumNumberOfRequests: 1, timers: timers)
            case 2: Throttle(maximumNumberOfRequests: 2, queueTimeout: .seconds(1), timers: timers)
            case 3: Throttle(perHost: 1, timers: timers)
            default: Throttle(maximumNumberOfRequests: 2, perHost: 2, maximumWaiting: 3, timers: timers)
            }
        }.run()
        #expect(violations.isEmpty)
    }
}

/// A throttle over a scripted terminal, and what came of its tasks.
private final class Stage: Sendable {
    let throttle: Throttle
    let terminal: ScriptedTerminal
    let timers: ManualTimers
    let log = EventLog()
    private let failures = Locked<[HTTPError]>([])

    init(
        _ throttle: Throttle, onCancel: ScriptedTerminal.CancelReaction = .completes,
        timers: ManualTimers = ManualTimers()
    ) {
        self.throttle = throttle
        self.timers = timers
        terminal = ScriptedTerminal(onCancel: onCancel)
        throttle --> terminal
    }

    convenience init(limit: UInt = 1, deadline: Duration) {
        let timers = ManualTimers()
        self.init(Throttle(maximumNumberOfRequests: limit, queueTimeout: deadline, timers: timers), timers: timers)
    }

    var chain: HTTPLoader { throttle }
    var errors: [HTTPError] { failures.withLock { $0 } }
    var running: [String] { terminal.held.map(\.request.path) }

    @discardableResult
    func load(_ path: String, _ prepare: (inout HTTPRequest) -> Void = { _ in }) -> HTTPTask {
        var request = HTTPRequest(host: "example.com", path: path)
        prepare(&request)
        return chain.load(request: request) { result in
            if let error = result.error { self.failures.withLock { $0.append(error) } }
            self.log.note("\(path) \(result.summary)")
        }
    }

    func answer(_ path: String) {
        for task in terminal.held where task.request.path == path { terminal.answer(task) }
    }

    func answerAll() {
        terminal.answerAll()
    }

    /// Lets everything come to its end, and sees that nothing remains.
    func end() {
        throttle.maximumNumberOfRequests = .max
        answerAll()
        #expect(throttle.snapshot == Throttle.Snapshot())
        #expect(timers.pendingCount == 0)
    }
}

private final class RewritingLoader: HTTPLoader, @unchecked Sendable {
    private let rewrite: @Sendable (inout HTTPRequest) -> Void
    init(_ rewrite: @escaping @Sendable (inout HTTPRequest) -> Void) { self.rewrite = rewrite }

    override func load(task: HTTPTask) {
        rewrite(&task.request)
        super.load(task: task)
    }
}

/// Holds what it is given, also over a reset.
private final class HoldingTerminal: HTTPLoader, @unchecked Sendable {
    private let held = Locked<[HTTPTask]>([])

    override func load(task: HTTPTask) { held.withLock { $0.append(task) } }

    func answerOldest() { held.withLock { $0.removeFirst() }.complete(.sample) }
}
