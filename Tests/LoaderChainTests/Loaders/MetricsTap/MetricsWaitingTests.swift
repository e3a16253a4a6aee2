import LoaderChainTesting
import Testing

@testable import LoaderChain

/// How long a task waited in the queues below a tap.
@Suite(.timeLimit(.minutes(10))) final class MetricsWaitingTests {
    let timers = ManualTimers()
    let upper = RecordingSink()
    let lower = RecordingSink()
    let terminal = ScriptedTerminal()

    /// Ends what a test has left, which would keep its chain alive.
    deinit {
        repeat {
            terminal.answerAll()
        } while timers.advanceToNext()
    }

    private func tap(_ sink: RecordingSink) -> MetricsTap { MetricsTap(MetricRecorder(sink, timers: timers)) }

    @discardableResult
    private func load(_ path: String = "/", with chain: HTTPLoader) -> HTTPTask {
        chain.load(request: HTTPRequest(host: "a", path: path)) { _ in }
    }

    private func answerFirst() throws { terminal.answer(try #require(terminal.held.first)) }

    @Test func timeInThrottleIsRecordedAsWaiting() throws {
        let chain = tap(upper) --> Throttle(maximumNumberOfRequests: 1, timers: timers) --> tap(lower) --> terminal
        load("/first", with: chain)
        load("/second", with: chain)
        timers.advance(by: .seconds(2))
        try answerFirst()
        timers.advance(by: .seconds(3))
        try answerFirst()
        #expect(upper.metrics.map(\.waiting) == [.zero, .seconds(2)])
        #expect(upper.metrics.map(\.duration) == [.seconds(2), .seconds(5)])
        // What stands below the queue knows nothing of it.
        #expect(lower.metrics.map(\.waiting) == [.zero, .zero])
        #expect(lower.metrics.map(\.duration) == [.seconds(2), .seconds(3)])
    }

    @Test func waitingOfCancelledTaskEndsAtCancel() {
        let chain = tap(upper) --> Throttle(maximumNumberOfRequests: 0, timers: timers) --> terminal
        let task = load(with: chain)
        timers.advance(by: .seconds(4))
        task.cancel()
        #expect(upper.metrics.map(\.waiting) == [.seconds(4)])
    }

    @Test func waitingOfTimedOutTaskEndsAtTimeout() {
        let throttle = Throttle(maximumNumberOfRequests: 0, queueTimeout: .seconds(3), timers: timers)
        let chain = tap(upper) --> throttle --> terminal
        load(with: chain)
        timers.advance(by: .seconds(10))
        #expect(upper.metrics.map(\.waiting) == [.seconds(3)])
        #expect(upper.metrics.map(\.outcome) == [.rejected(.queueTimedOut, by: "Throttle")])
    }

    @Test func timeInRateLimitIsRecordedAsWaiting() throws {
        let chain = tap(upper) --> RateLimit(requests: 1, per: .seconds(1), timers: timers) --> terminal
        for _ in 0..<3 { load(with: chain) }
        for _ in 0..<3 {
            timers.advance(by: .milliseconds(500))
            try answerFirst()
            timers.advance(by: .milliseconds(500))
        }
        #expect(upper.metrics.map(\.waiting) == [.zero, .seconds(1), .seconds(2)])
        #expect(upper.metrics.map(\.duration) == [.milliseconds(500), .milliseconds(1_500), .milliseconds(2_500)])
    }

    @Test func retryPausesAndQueuesBelowCountAsWaiting() throws {
        let retry = Retry(
            .constant(delay: 2, maximumNumberOfAttempts: 3), budget: .unlimited, timers: timers)
        let chain =
            tap(upper) --> retry --> tap(lower) --> Throttle(maximumNumberOfRequests: 1, timers: timers) --> terminal
        load("/other", with: Throttle(maximumNumberOfRequests: 1, timers: timers) --> terminal)
        try answerFirst()
        load(with: chain)
        timers.advance(by: .seconds(1))
        terminal.refuse(try #require(terminal.held.first), .connectionLost)
        timers.advance(by: .seconds(1))
        // This task takes the slot that the second attempt will wait for.
        load("/other", with: chain)
        timers.advance(by: .seconds(5))
        try answerFirst()
        timers.advance(by: .seconds(1))
        try answerFirst()
        let metric = try #require(upper.metrics.last)
        #expect(metric.duration == .seconds(8) && metric.attempts == 2)
        // A pause of 2 s, and then 4 s for the slot.
        #expect(metric.waiting == .seconds(6))
        #expect(lower.metrics.map(\.waiting) == [.zero, .zero, .seconds(4)])
        #expect(lower.metrics.map(\.attempts) == [1, 1, 1])
    }

    @Test func interruptedPauseCountsUntilItsEnd() async throws {
        let retry = Retry(
            .constant(delay: 9, maximumNumberOfAttempts: 3), budget: .unlimited, timers: timers)
        let chain = tap(upper) --> retry --> terminal
        let cancelled = load(with: chain)
        terminal.refuse(try #require(terminal.held.first), .connectionLost)
        timers.advance(by: .seconds(3))
        cancelled.cancel()
        load(with: chain)
        terminal.refuse(try #require(terminal.held.first), .connectionLost)
        timers.advance(by: .seconds(4))
        await chain.reset()
        #expect(upper.metrics.map(\.waiting) == [.seconds(3), .seconds(4)])
        #expect(upper.metrics.map(\.outcome) == [.cancelled, .reset])
    }

    @Test func waitsAreNotCountedWithoutTap() {
        let chain = Throttle(maximumNumberOfRequests: 0, timers: timers) --> terminal
        let task = load(with: chain)
        #expect(!task.beginWait())
        task.cancel()
    }
}
