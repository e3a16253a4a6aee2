import Dispatch
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// A throttle with a rule for an overload, seen from outside.
@Suite(.timeLimit(.minutes(10))) struct ThrottleOverloadTests {
    private let timers = ManualTimers()
    private let terminal = ScriptedTerminal()
    private let log = EventLog()
    /// Looks each half second, and needs three of them.
    private static let rule = ThrottleOverload(target: .seconds(1), interval: .seconds(1))

    private func throttle(
        limit: ThrottleLimit = 1, perHost: ThrottleLimit? = nil, _ rule: ThrottleOverload = Self.rule,
        onEvent: (@Sendable (Throttle.Event) -> Void)? = nil
    ) -> Throttle {
        let throttle = Throttle(limit: limit, perHost: perHost, overload: rule, timers: timers, onEvent: onEvent)
        throttle --> terminal
        return throttle
    }

    private func load(
        _ path: String, _ priority: ThrottlePriority = .normal, host: String = "a", with throttle: Throttle
    ) {
        var request = HTTPRequest(host: host, path: path)
        request.priority = priority
        throttle.load(request: request) { [log] in log.note("\(path) \($0.summary)") }
    }

    private func answerOne() { if let task = terminal.held.first { terminal.answer(task) } }

    private func end(_ throttle: Throttle) {
        throttle.maximumNumberOfRequests = .max
        while !terminal.held.isEmpty { answerOne() }
        timers.advance(by: .seconds(60))
        #expect(timers.pendingCount == 0 && throttle.pressure == .none)
    }

    // MARK: Pressure

    @Test func pressureRisesWithStandingQueueAndFallsWhenCalm() {
        let throttle = throttle()
        for number in 1...4 { load("/\(number)", number == 4 ? .low : .normal, with: throttle) }
        timers.advance(by: .seconds(1))
        // The third look at which the first has waited for more than a second is that after two and a half.
        timers.advance(by: .milliseconds(1_400))
        #expect(throttle.pressure == .none)
        timers.advance(by: .milliseconds(200))
        #expect(throttle.pressure == .critical)
        // Shed were all but one of the highest that waits, the lowest first.
        #expect(log.events == ["/4 shed", "/3 shed"])
        answerOne()
        answerOne()
        #expect(throttle.pressure == .critical)
        timers.advance(by: .milliseconds(500))
        #expect(throttle.pressure == .none)
        end(throttle)
    }

    @Test func pressureStaysForIntermediateWaits() {
        let throttle = throttle(ThrottleOverload(target: .seconds(1), interval: .seconds(1), sheds: false))
        var number = 0
        func step(_ count: Int) {
            for _ in 0..<count {
                number += 1
                load("/\(number)", with: throttle)
                timers.advance(by: .milliseconds(250))
                answerOne()
            }
        }
        for _ in 0..<6 { load("/first", with: throttle) }
        step(20)
        #expect(throttle.pressure == .critical)
        // Three wait and go on after three quarters of a second each: no reason to rise, and none to fall.
        for _ in 0..<3 { answerOne() }
        step(20)
        #expect(throttle.pressure == .critical)
        for _ in 0..<2 { answerOne() }
        step(20)
        #expect(throttle.pressure == .none)
        end(throttle)
        #expect(!log.events.contains { $0.hasSuffix("shed") })
    }

    @Test func pausedThrottleHasNoPressure() {
        let throttle = throttle()
        for number in 1...5 { load("/\(number)", with: throttle) }
        timers.advance(by: .seconds(10))
        #expect(throttle.pressure == .critical && log.events.count == 3)
        throttle.maximumNumberOfRequests = 0
        timers.advance(by: .seconds(1))
        #expect(throttle.pressure == .none)
        for number in 6...9 { load("/\(number)", with: throttle) }
        timers.advance(by: .seconds(100))
        #expect(log.events.count == 3)
        end(throttle)
    }

    @Test func throttleWithoutRuleHasNoPressureAndNoTimer() async {
        let throttle = Throttle(limit: 0, timers: timers)
        throttle --> terminal
        for _ in 0..<10 { load("/", with: throttle) }
        timers.advance(by: .seconds(100))
        #expect(throttle.pressure == .none && timers.pendingCount == 0)
        var seen: [ThrottlePressure] = []
        for await pressure in throttle.pressures { seen.append(pressure) }
        #expect(seen == [.none])
    }

    @Test func pressureStreamStartsWithCurrentAndSkipsToNewest() async {
        let throttle = throttle()
        var first = throttle.pressures.makeAsyncIterator()
        #expect(await first.next() == ThrottlePressure.none)
        for number in 1...3 { load("/\(number)", .low, with: throttle) }
        timers.advance(by: .seconds(3))
        #expect(await first.next() == .elevated)
        var second = throttle.pressures.makeAsyncIterator()
        #expect(await second.next() == .elevated)
        load("/4", with: throttle)
        timers.advance(by: .seconds(3))
        end(throttle)
        #expect(await second.next() == ThrottlePressure.none)
    }

    @Test func pressureStreamEndsWithTheThrottle() async {
        var throttle: Throttle? = throttle()
        let stream = throttle?.pressures
        throttle.map { load("/", with: $0) }
        while !terminal.held.isEmpty { answerOne() }
        throttle = nil
        var seen: [ThrottlePressure] = []
        if let stream { for await pressure in stream { seen.append(pressure) } }
        #expect(seen == [.none] && timers.pendingCount == 0)
    }

    // MARK: Shedding

    @Test func lowestPriorityIsShedFirstEvenOnArrival() {
        let events = EventLog()
        let throttle = throttle(onEvent: { event in
            let what = event.priority.map { "\($0)" } ?? event.pressure.map { "\($0)" } ?? ""
            events.note("\(event.kind) \(what)")
        })
        load("/0", with: throttle)
        for number in 1...3 { load("/low-\(number)", .low, with: throttle) }
        load("/high", .high, with: throttle)
        answerOne()
        timers.advance(by: .seconds(3))
        // One was passed on in the last second, none of them low.
        #expect(log.events == ["/0 response", "/low-3 shed", "/low-2 shed"])
        #expect(throttle.pressure == .elevated)
        load("/low-4", .low, with: throttle)
        load("/normal", .normal, with: throttle)
        #expect(log.events.suffix(1) == ["/low-4 shed"])
        #expect(throttle.snapshot.total.waiting == 2)
        #expect(
            events.events == [
                "queued low", "queued low", "queued low", "queued high", "started high", "shed low", "shed low",
                "pressureChanged elevated", "shed low", "queued normal",
            ])
        end(throttle)
    }

    @Test func shedErrorSaysWhatToDo() throws {
        let seen = Locked<HTTPError?>(nil)
        let throttle = throttle()
        for number in 1...2 { load("/\(number)", .high, with: throttle) }
        timers.advance(by: .seconds(3))
        throttle.load(request: .sample) { result in seen.withLock { $0 = result.error } }
        timers.advance(by: .seconds(3))
        throttle.load(request: .sample) { result in seen.withLock { $0 = result.error } }
        let error = try #require(seen.withLock { $0 })
        #expect(error.code == .shed && error.loader == "Throttle")
        #expect(error.reason?.contains("Ask for less while the throttle's pressure is high") ?? false)
        end(throttle)
    }

    @Test func sheddingIsLimitedToTheBusyHost() {
        let throttle = throttle(limit: 10, perHost: 1)
        for number in 1...5 { load("/slow-\(number)", host: "slow", with: throttle) }
        timers.advance(by: .seconds(2))
        for number in 1...3 { load("/quick-\(number)", host: "quick", with: throttle) }
        timers.advance(by: .seconds(1))
        #expect(throttle.pressure == .critical)
        #expect(log.events == ["/slow-5 shed", "/slow-4 shed", "/slow-3 shed"])
        end(throttle)
    }

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient) { timers in
            let rule = ThrottleOverload(target: .milliseconds(2), interval: .milliseconds(2))
            return Throttle(limit: 1, perHost: 2, overload: rule, timers: timers)
        }.run()
        #expect(violations.isEmpty)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1), .seconds(Int64.max), Duration(attoseconds: .max)])
    func overloadRuleAcceptsAnyTime(duration: Duration) {
        for other in [Duration.zero, .seconds(1), .seconds(Int64.max)] {
            for rule in [
                ThrottleOverload(target: duration, interval: other),
                ThrottleOverload(target: other, interval: duration),
            ] {
                let throttle = throttle(rule)
                for _ in 0..<5 { load("/", with: throttle) }
                timers.advance(by: .milliseconds(20))
                throttle.reset(with: DispatchGroup())
                while !terminal.held.isEmpty { answerOne() }
                #expect(throttle.snapshot.total == .init())
            }
        }
    }

    // MARK: In the long run

    private static let halfASecond = ThrottleOverload(target: .milliseconds(500), interval: .seconds(1))

    @Test(arguments: [1.2, 2], [OverloadedService.constant, .even, .exponential])
    func sheddingCostsNoCapacity(load: Double, service: OverloadedService) {
        for deadline in [nil, .seconds(1)] as [Duration?] {
            let run = Overload(
                load: load, service: service, seconds: 20, deadline: deadline, overload: Self.halfASecond)
            #expect(run.goodput >= 0.95, "\(run.goodput) of the capacity")
            #expect(run.results == run.arrivals)
            // Once it has begun, it does not begin and end again.
            #expect(run.events.count { $0.kind == .pressureChanged } <= 2)
            // Without deadlines too, few tasks wait for much longer than the target.
            let waits = run.events.dropFirst(run.events.count / 4).filter { $0.kind == .started }.compactMap(\.waited)
            #expect(waits.count { $0 > .seconds(1) } < waits.count / 20)
        }
    }

    @Test(arguments: [nil, .seconds(1)] as [Duration?], [OverloadedService.constant, .even, .exponential])
    func highPrioritySucceedsAndLowGetsTheRest(deadline: Duration?, service: OverloadedService) {
        let run = Overload(
            load: 1.6, service: service, seconds: 20, priorities: [.low, .high], deadline: deadline,
            overload: Self.halfASecond)
        func share(_ priority: ThrottlePriority) -> Double {
            Double(run.answered[priority] ?? 0) / Double(run.arrived[priority] ?? 1)
        }
        #expect(share(.high) >= 0.99, "\(share(.high)) of high priority")
        #expect(share(.low) >= 0.2 && share(.low) < 0.4, "\(share(.low)) of low priority")
        #expect(run.goodput >= 0.95, "\(run.goodput) of the capacity")
        let shed = run.events.filter { $0.kind == .shed }
        #expect(!shed.isEmpty && shed.allSatisfy { $0.priority == .low })
        #expect(run.events.filter { $0.kind == .pressureChanged }.map(\.pressure) == [.elevated])
    }

    @Test(arguments: [0.5, 0.8]) func nothingIsShedWithoutOverload(load: Double) {
        let run = Overload(
            load: load, service: .exponential, seconds: 20, priorities: [.low, .normal, .high], deadline: nil,
            overload: Self.halfASecond)
        #expect(!run.events.contains { $0.kind == .shed || $0.kind == .pressureChanged })
        #expect(run.answered.values.reduce(0, +) == run.arrivals)
    }

    // MARK: Many threads

    @Test func everyQueuedTaskStartsLeavesOrIsShed() throws {
        for seed in testSample(0..<20 as Range<UInt64>) {
            let counts = Locked<[Throttle.Event.Kind: Int]>([:])
            let arrived = Locked(0)
            let throttle = throttle(
                limit: 2, ThrottleOverload(target: .milliseconds(2), interval: .milliseconds(2)),
                onEvent: { event in counts.withLock { $0[event.kind, default: 0] += 1 } })
            try onThreads(4) { thread in
                var random = SeededGenerator(seed: seed &* 31 &+ UInt64(thread))
                for _ in 0..<60 {
                    switch random.next() % 8 {
                    // One thread has the clock.
                    case 0...3 where thread == 0: timers.advance(by: .milliseconds(2))
                    case 1: if let task = terminal.held.first { terminal.answer(task) }
                    default:
                        arrived.withLock { $0 += 1 }
                        let task = HTTPTask(request: .sample) { _ in }
                        (throttle as HTTPLoader).load(task: task)
                        if random.next() % 8 == 0 { task.cancel() }
                    }
                }
            }
            throttle.maximumNumberOfRequests = .max
            while !terminal.held.isEmpty { answerOne() }
            timers.advance(by: .seconds(1))
            let seen = counts.withLock { $0 }
            let queued = seen[.queued] ?? 0
            let ended = (seen[.started] ?? 0) + (seen[.left] ?? 0) + (seen[.shed] ?? 0)
            // Of those that were shed, some had not been queued.
            #expect(ended >= queued && ended <= arrived.withLock { $0 }, "seed \(seed): \(seen)")
            #expect(throttle.snapshot.total == .init() && timers.pendingCount == 0, "seed \(seed)")
        }
    }
}
