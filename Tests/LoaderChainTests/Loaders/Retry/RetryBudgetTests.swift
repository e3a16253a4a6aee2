import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct RetryBudgetTests {
    @Test func defaultIsTwentyPercentPlusTenPerSecond() {
        let timers = ManualTimers()
        let budget = RetryBudget(timers: timers)
        #expect(budget.remaining == 100)
        for _ in 0..<1_004 { budget.noteRequest() }
        #expect(budget.remaining == 300)
        budget.noteRequest()
        #expect(budget.remaining == 301)
        timers.advance(by: .seconds(10))
        #expect(budget.remaining == 100)
    }

    @Test func retriesAreBoundedDuringOutage() {
        let timers = ManualTimers()
        let budget = RetryBudget(timers: timers)
        var retries = 0
        // A hundred requests a second that all fail, and would be tried again for ever.
        for _ in 0..<6_000 {
            budget.noteRequest()
            while budget.takeRetry() { retries += 1 }
            timers.advance(by: .milliseconds(10))
        }
        // A fifth of them, and ten a second, and what the window lets overlap.
        #expect((1_700...2_100).contains(retries), "\(retries)")
    }

    @Test func shortWindowAllowsOneRetry() {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, window: .milliseconds(500), timers: ManualTimers())
        #expect(budget.takeRetry() && !budget.takeRetry())
    }

    @Test(arguments: [Duration.zero, .milliseconds(10)]) func shortWindowAllowsNoMoreThanItsSetting(_ window: Duration)
    {
        let timers = ManualTimers()
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, window: window, timers: timers)
        #expect(budget.takeRetry())
        for _ in 0..<20 {
            timers.advance(by: .milliseconds(20))
            #expect(!budget.takeRetry())
        }
    }

    @Test func unusedRetryIsGivenBack() {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, window: .seconds(2), timers: ManualTimers())
        let taken = (0..<3).map { _ in budget.takeRetry() }
        #expect(taken == [true, true, false])
        budget.giveBackRetry()
        #expect(budget.remaining == 1)
    }

    /// Loaders for one server spend together what they have.
    @Test func loadersMayShareBudget() {
        let timers = ManualTimers()
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, window: .seconds(2), timers: timers)
        let terminal = ScriptedTerminal { _ in .failure(.timedOut) }
        let log = EventLog()
        for _ in 1...2 {
            let retry = Retry(.immediately(maximumNumberOfAttempts: 3), budget: budget, timers: timers)
            (retry --> terminal).load(request: .sample) { log.note("\($0.attempts)") }
        }
        #expect(log.events == ["3", "1"] && budget.remaining == 0)
    }

    @Test func onlyRequestsWithStrategyPay() {
        let timers = ManualTimers()
        let budget = RetryBudget(ratio: 1, minimumPerSecond: 0, timers: timers)
        let chain = Retry(nil, budget: budget, timers: timers) --> ScriptedTerminal { _ in .failure(.timedOut) }
        let log = EventLog()
        var request = HTTPRequest.sample
        chain.load(request: request) { log.note("\($0.attempts)") }
        #expect(log.events == ["1"] && budget.remaining == 0)
        request.retryStrategy = Backoff.immediately(maximumNumberOfAttempts: 3)
        chain.load(request: request) { log.note("\($0.attempts)") }
        // It has paid for one retry, and not for a second one.
        #expect(log.events == ["1", "2"] && budget.remaining == 0)
    }

    /// It counts when it is decided.
    @Test func retryCancelledDuringItsDelayCounts() {
        let timers = ManualTimers()
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, window: .seconds(2), timers: timers)
        let retry = Retry(.constant(delay: 1, maximumNumberOfAttempts: 2), budget: budget, timers: timers)
        let chain = retry --> ScriptedTerminal { _ in .failure(.timedOut) }
        chain.load(request: .sample) { _ in }.cancel()
        #expect(budget.remaining == 1 && timers.pendingCount == 0)
    }

    @Test func unlimitedBudgetAlwaysAllowsRetry() {
        #expect(RetryBudget.unlimited.remaining == nil)
        #expect((0..<1_000).allSatisfy { _ in RetryBudget.unlimited.takeRetry() })
    }

    @Test func invalidSettingsDoNotTrap() {
        let timers = ManualTimers()
        let nothing = RetryBudget(ratio: .nan, minimumPerSecond: -5, window: .seconds(-1), timers: timers)
        nothing.noteRequest()
        #expect(!nothing.takeRetry())
        let huge = RetryBudget(
            ratio: .infinity, minimumPerSecond: .max, window: .seconds(Int64.max), timers: timers)
        huge.noteRequest()
        #expect(huge.takeRetry())
    }

    @Test(arguments: 0..<10) func randomWalksAgreeWithListOfAllEvents(group: UInt64) {
        takeWalks(group: group, Self.walk)
    }

    private static func walk(_ seed: UInt64) -> String? {
        var random = SeededGenerator(seed: seed)
        let slice = Int64.random(in: 1...1_000, using: &random)
        let thousandths = Int.random(in: 0...1_500, using: &random)
        let perSecond = Int.random(in: 0...3, using: &random) * 100_000_000
        var state = RetryBudgetState(
            ratio: Double(thousandths) / 1_000, minimumPerSecond: perSecond, window: .nanoseconds(slice * 10))
        var events: [(slice: Int64, gain: Int)] = []
        let reserve = perSecond / 1_000 * Int(slice * 10)
        var now = Int64.random(in: -5_000...5_000, using: &random)
        for step in 0..<60 {
            if Int.random(in: 0..<3, using: &random) == 0 {
                now += Int64.random(in: 0...(Bool.random(using: &random) ? slice : 12 * slice), using: &random)
            }
            let present = Int64((Double(now) / Double(slice)).rounded(.down))
            // Everything in millionths of a retry.
            let saved = events.filter { $0.slice > present - 10 }.reduce(reserve) { $0 + $1.gain }
            let instant = TimerInstant(nanoseconds: now)
            if Bool.random(using: &random) {
                state.noteRequest(at: instant)
                events.append((present, 1_000 * thousandths))
            } else {
                let isThrottled = Bool.random(using: &random)
                let price = isThrottled ? 357_142 : 1_000_000
                let isTaken = state.takeRetry(isThrottled: isThrottled, at: instant)
                guard isTaken == (saved >= price) else { return "step \(step): \(isTaken) with \(saved) of \(price)" }
                if isTaken { events.append((present, -price)) }
            }
        }
        return nil
    }
}
