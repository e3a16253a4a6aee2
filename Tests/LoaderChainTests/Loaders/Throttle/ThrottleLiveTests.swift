import Dispatch
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// The events of a throttle in use, and the settings that can be changed then.
@Suite(.timeLimit(.minutes(10))) struct ThrottleLiveTests {
    private let timers = ManualTimers()
    private let terminal = ScriptedTerminal()
    private let log = EventLog()

    @discardableResult
    private func load(
        _ path: String, with throttle: Throttle, _ prepare: (inout HTTPRequest) -> Void = { _ in }
    ) -> HTTPTask {
        var request = HTTPRequest(host: "example.com", path: path)
        prepare(&request)
        return throttle.load(request: request) { [log] in log.note("\(path) \($0.summary)") }
    }

    // MARK: Settings

    @Test(arguments: [nil, 5] as [Int?])
    func shorterQueueDropsLastOfLowestPriority(before: Int?) {
        let throttle = Throttle(maximumNumberOfRequests: 0, maximumWaiting: before)
        throttle --> terminal
        let priorities: [ThrottlePriority] = [.low, .high, .normal, .low, .high]
        for (number, priority) in priorities.enumerated() {
            load("/\(priority)-\(number)", with: throttle) { $0.priority = priority }
        }
        throttle.maximumWaiting = 4
        #expect(log.events == ["/low-3 queueFull"])
        throttle.maximumWaiting = 1
        #expect(log.events.dropFirst() == ["/low-0 queueFull", "/normal-2 queueFull", "/high-4 queueFull"])
        throttle.maximumWaiting = nil
        #expect(throttle.maximumWaiting == nil)
        for number in 5...70 { load("/\(number)", with: throttle) }
        #expect(log.events.count == 4 && throttle.snapshot.total.waiting == 67)
        throttle.maximumWaiting = -1
        #expect(throttle.snapshot.total.waiting == 0)
    }

    @Test func newQueueTimeoutAppliesToWaiters() {
        let throttle = Throttle(maximumNumberOfRequests: 0, queueTimeout: .seconds(10), timers: timers)
        throttle --> terminal
        load("/1", with: throttle)
        timers.advance(by: .seconds(2))
        load("/2", with: throttle)
        timers.advance(by: .seconds(1))
        throttle.queueTimeout = .seconds(2)
        #expect(log.events == ["/1 queueTimedOut"])
        timers.advance(by: .seconds(1))
        #expect(log.events == ["/1 queueTimedOut", "/2 queueTimedOut"])
        load("/3", with: throttle)
        throttle.queueTimeout = nil
        #expect(throttle.queueTimeout == nil && timers.pendingCount == 0)
        timers.advance(by: .seconds(100))
        throttle.queueTimeout = .seconds(101)
        timers.advance(by: .seconds(1))
        #expect(log.events.count == 3 && timers.pendingCount == 0)
    }

    @Test func firstQueueTimeoutStartsWhenSet() {
        let throttle = Throttle(maximumNumberOfRequests: 0, timers: timers)
        throttle --> terminal
        load("/1", with: throttle)
        load("/2", with: throttle) { $0.deadline = .after(.seconds(3), on: timers) }
        timers.advance(by: .seconds(2))
        throttle.queueTimeout = .seconds(4)
        timers.advance(by: .seconds(1))
        #expect(log.events == ["/2 deadlineExceeded"])
        timers.advance(by: .seconds(3))
        #expect(log.events == ["/2 deadlineExceeded", "/1 queueTimedOut"])
    }

    @Test func concurrentSettingChangesApplyToEveryWaiter() throws {
        // Whatever the last setting is holds for every waiter.
        for seed in 0..<20 as Range<UInt64> {
            let throttle = Throttle(maximumNumberOfRequests: 0, timers: timers)
            throttle --> terminal
            try onThreads(4) { thread in
                var random = SeededGenerator(seed: seed &* 31 &+ UInt64(thread))
                for _ in 0..<50 {
                    switch random.next() % 6 {
                    case 0: throttle.queueTimeout = .seconds(Int.random(in: 1...9, using: &random))
                    case 1: throttle.queueTimeout = nil
                    case 2: throttle.maximumWaiting = Int.random(in: 10...40, using: &random)
                    case 3: throttle.hostLimits["example.com"] = UInt(random.next() % 3)
                    default: load("/", with: throttle)
                    }
                }
            }
            throttle.queueTimeout = .seconds(10)
            timers.advance(by: .seconds(10))
            #expect(throttle.snapshot.total == .init() && timers.pendingCount == 0, "seed \(seed)")
        }
    }

    // MARK: Events

    /// Notes events by their kinds, with their data.
    private func note(_ event: Throttle.Event) {
        let parts = [
            event.kind.rawValue, event.host, event.partition, event.priority.map { "\($0)" },
            event.waited.map { "after \($0)" },
        ]
        log.note(parts.compactMap { $0 }.joined(separator: " "))
    }

    @Test func eachWaitingTaskHasTwoEvents() {
        let throttle = Throttle(
            limit: 1, maximumWaiting: 2, queueTimeout: .seconds(9), timers: timers, onEvent: { [self] in note($0) })
        throttle --> terminal
        load("/1", with: throttle)
        load("/2", with: throttle) { $0.priority = .high }
        let third = load("/3", with: throttle) { ($0.throttleKey, $0.throttlePartition) = ("key", "part") }
        load("/4", with: throttle)
        timers.advance(by: .seconds(2))
        third.cancel()
        load("/5", with: throttle) { $0.deadline = .after(.seconds(1), on: timers) }
        timers.advance(by: .seconds(1))
        terminal.answer(terminal.held[0])
        load("/6", with: throttle)
        timers.advance(by: .seconds(9))
        throttle.reset(with: DispatchGroup())
        terminal.answerAll()
        #expect(
            log.events == [
                "queued example.com high after 0.0 seconds", "queued key part normal after 0.0 seconds",
                "refused example.com normal after 0.0 seconds", "/4 queueFull",
                "left key part normal after 2.0 seconds", "/3 cancelled",
                "queued example.com normal after 0.0 seconds", "expired example.com normal after 1.0 seconds",
                "/5 deadlineExceeded", "started example.com high after 3.0 seconds", "/1 response",
                "queued example.com normal after 0.0 seconds", "expired example.com normal after 9.0 seconds",
                "/6 queueTimedOut", "idle", "/2 cancelled",
            ])
    }

    @Test func idleEventIsSentWhenNothingRuns() {
        let throttle = Throttle(limit: 2, onEvent: { [self] in note($0) })
        throttle --> terminal
        for number in 1...3 { load("/\(number)", with: throttle) { $0.host = "a" } }
        throttle.maximumNumberOfRequests = 0
        terminal.answerAll()
        #expect(log.events.filter { $0 == "idle" }.count == 1 && log.events.suffix(2) == ["idle", "/2 response"])
        throttle.maximumNumberOfRequests = 1
        terminal.answerAll()
        #expect(log.events.suffix(2) == ["idle", "/3 response"])
    }

    @Test func adaptiveLimitChangeIsSentAsEvent() {
        let throttle = Throttle(
            limit: .adaptive(),
            onEvent: { [self] event in
                if let change = event.limitChange { log.note("\(event.kind.rawValue) \(change.from) to \(change.to)") }
            })
        throttle --> terminal
        load("/", with: throttle)
        terminal.answer(terminal.held[0], .tooManyRequests)
        #expect(log.events == ["limitMoved 4 to 3", "/ response"])
    }

    @Test func eventHandlerCanUseTheThrottle() {
        let box = Locked<Throttle?>(nil)
        let throttle = Throttle(
            limit: 1,
            onEvent: { [log] event in
                let throttle = box.withLock { $0 }
                log.note("\(event.kind.rawValue) \(throttle?.snapshot.total.waiting ?? -1)")
                if event.kind == .queued { throttle?.maximumNumberOfRequests = 2 }
            })
        box.withLock { $0 = throttle }
        throttle --> terminal
        load("/1", with: throttle)
        load("/2", with: throttle)
        #expect(log.events == ["queued 1", "started 0"])
        terminal.answerAll()
        box.withLock { $0 = nil }
    }
}
