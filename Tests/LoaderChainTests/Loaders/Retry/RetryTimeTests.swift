import Dispatch
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// What ends a retry beside its strategy: deadlines, resets, and servers that ask to wait.
@Suite(.timeLimit(.minutes(10))) final class RetryTimeTests {
    let timers = ManualTimers()
    let terminal = ScriptedTerminal()
    let log = EventLog()

    /// Ends what a test has left, which would keep its chain alive.
    deinit {
        repeat {
            terminal.answerAll()
        } while timers.advanceToNext()
    }

    private func load(
        _ strategy: any HTTPRetryStrategy = Backoff.constant(delay: 1, maximumNumberOfAttempts: 10),
        deadline: Duration? = nil, maximumRetryAfter: Duration = .seconds(60), _ request: HTTPRequest = .sample
    ) -> HTTPLoader {
        let retry = Retry(
            strategy, totalTimeout: deadline, maximumRetryAfter: maximumRetryAfter, timers: timers)
        let chain = retry --> terminal
        chain.load(request: request) { [log] result in log.note("\(result.summary) \(result.attempts)") }
        return chain
    }

    private var only: HTTPTask { get throws { try #require(terminal.held.first) } }

    // MARK: The deadline

    @Test func retryDoesNotBeginAfterTheDeadline() throws {
        _ = load(deadline: .milliseconds(2_500))
        for _ in 0..<2 {
            terminal.refuse(try only, .timedOut)
            timers.advance(by: .seconds(1))
        }
        terminal.refuse(try only, .connectionLost)
        #expect(log.events == ["connectionLost 3"])
        #expect(timers.pendingCount == 0)
    }

    @Test func attemptRunningAtDeadlineIsCancelled() throws {
        let chain = load(deadline: .milliseconds(1_500))
        terminal.refuse(try only, .connectionLost)
        timers.advance(by: .seconds(1))
        let attempt = try only
        timers.advance(by: .milliseconds(499))
        #expect(!attempt.isCancelled)
        timers.advance(by: .milliseconds(1))
        #expect(attempt.isCancelled)
        #expect(log.events == ["deadlineExceeded 2"])
        #expect(timers.pendingCount == 0)
        #expect("\(chain)".contains("running 0"))
    }

    @Test func requestRetryDeadlineTakesPrecedence() throws {
        var request = HTTPRequest.sample
        request.totalTimeout = .milliseconds(500)
        _ = load(deadline: .seconds(100), request)
        terminal.refuse(try only, .timedOut)
        #expect(log.events == ["timedOut 1"])
    }

    @Test(arguments: [(1_000, false), (1_001, true)])
    func pauseUntilRequestDeadlineIsNotBegun(_ milliseconds: Int, _ isBegun: Bool) throws {
        var request = HTTPRequest.sample
        request.deadline = .after(.milliseconds(milliseconds), on: timers)
        _ = load(deadline: nil, request)
        terminal.answer(try only, .serviceUnavailable, headers: ["Retry-After": "1"])
        #expect(log.events == (isBegun ? [] : ["response 1"]))
        timers.advance(by: .seconds(2))
        #expect(log.events == [isBegun ? "deadlineExceeded 2" : "response 1"])
        #expect(timers.pendingCount == 0)
    }

    @Test(arguments: [(3, 5), (5, 3)])
    func earlierOfBothDeadlinesApplies(_ own: Int, _ loaders: Int) throws {
        var request = HTTPRequest.sample
        request.deadline = .after(.seconds(own), on: timers)
        _ = load(deadline: .seconds(loaders), request)
        timers.advance(by: .milliseconds(2_999))
        #expect(log.events.isEmpty)
        timers.advance(by: .milliseconds(1))
        #expect(log.events == ["deadlineExceeded 1"] && timers.pendingCount == 0)
    }

    @Test func responseInTimeLeavesNoTimer() throws {
        _ = load(deadline: .seconds(1))
        #expect(timers.pendingCount == 1)
        terminal.answer(try only)
        #expect(timers.pendingCount == 0)
        #expect(log.events == ["response 1"])
    }

    /// A request that is not retried has its time limit all the same.
    @Test(arguments: [true, false]) func totalTimeoutAppliesWithoutStrategy(_ isOwn: Bool) {
        var request = HTTPRequest.sample
        if isOwn { request.totalTimeout = .seconds(2) }
        let limit: Duration? = isOwn ? nil : .seconds(2)
        let chain = Retry(nil, totalTimeout: limit, timers: timers) --> terminal
        chain.load(request: request) { [log] in log.note($0.summary) }
        timers.advance(by: .milliseconds(1_999))
        #expect(log.events.isEmpty)
        timers.advance(by: .milliseconds(1))
        #expect(log.events == ["deadlineExceeded"] && timers.pendingCount == 0)
    }

    // MARK: Resets

    @Test func resetEndsDelayAndReportsLastResponse() async throws {
        let seen = Locked<HTTPResult?>(nil)
        let retry = Retry(.constant(delay: 1, maximumNumberOfAttempts: 3), timers: timers)
        let chain = retry --> terminal
        chain.load(request: .sample) { result in seen.withLock { $0 = result } }
        terminal.answer(try only, .serviceUnavailable)
        await chain.reset()
        let error = try #require(seen.withLock { $0 }?.error)
        #expect(error.code == .resetInProgress && error.loader == "Retry" && error.attempts == 1)
        #expect(error.response?.status == .serviceUnavailable)
        #expect(timers.pendingCount == 0)
    }

    @Test func resetEndsDelayAndReportsLastError() async throws {
        let seen = Locked<HTTPResult?>(nil)
        let retry = Retry(.constant(delay: 1, maximumNumberOfAttempts: 3), timers: timers)
        let chain = retry --> terminal
        chain.load(request: .sample) { result in seen.withLock { $0 = result } }
        terminal.refuse(try only, .connectionLost)
        await chain.reset()
        let error = try #require(seen.withLock { $0 }?.error)
        #expect(error.code == .resetInProgress && error.response == nil)
        #expect((error.underlyingError as? HTTPError)?.code == .connectionLost)
        #expect(timers.pendingCount == 0)
    }

    @Test func resetWaitsForRunningAttemptAndEndsRetries() async throws {
        let terminal = SlowToAnswer()
        let retry = Retry(.immediately(maximumNumberOfAttempts: 9), timers: timers)
        let chain = retry --> terminal
        chain.load(request: .sample) { [log] in log.note("\($0.summary) \($0.attempts)") }
        for number in 1...2 {
            // Not joined, because each brings a group of its own.
            let group = DispatchGroup()
            chain.reset(with: group)
            group.notify(queue: .global()) { [log] in log.note("reset \(number)") }
        }
        #expect(log.events.isEmpty)
        terminal.fail(.connectionLost)
        await log.waitForEvents(3)
        #expect(log.events.first == "connectionLost 1")
        #expect(Set(log.events.dropFirst()) == ["reset 1", "reset 2"])
    }

    // MARK: Retry-After

    @Test(arguments: [
        ("2", 2.0), ("0", 1.0), (" 3 ", 3.0), ("7200", 60.0), ("99999999999999999999999999", 60.0), ("-5", 1.0),
        ("+5", 1.0), ("1.5", 1.0), ("", 1.0), ("soon", 1.0), ("٣", 1.0), ("5, 6", 1.0),
        ("Mon, 01 Jan 2024 00:00:04 GMT", 4.0), ("Sun Dec 31 23:59:59 2023", 1.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 60.0), ("Mon, 01 Jan 2024 00:00:04 CET", 1.0),
    ])
    func delayIsAtLeastRetryAfter(_ text: String, _ seconds: Double) throws {
        _ = load()
        terminal.answer(try only, .serviceUnavailable, headers: ["retry-after": text])
        #expect(timers.nextDeadline == timers.now.advanced(by: .seconds(seconds)))
    }

    /// With the settings as they are.
    @Test func serverMayAskForAMinuteAtMost() throws {
        let chain = Retry(.constant(delay: 1, maximumNumberOfAttempts: 2), timers: timers) --> terminal
        chain.load(request: .sample) { [log] in log.note($0.summary) }
        terminal.answer(try only, .serviceUnavailable, headers: ["Retry-After": "7200"])
        #expect(timers.nextDeadline == timers.now.advanced(by: .seconds(60)))
    }

    @Test func longerDelayOfStrategyIsKept() throws {
        _ = load(Backoff.constant(delay: 8, maximumNumberOfAttempts: 2))
        terminal.answer(try only, .tooManyRequests, headers: ["Retry-After": "2"])
        #expect(timers.nextDeadline == timers.now.advanced(by: .seconds(8)))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 1e300])
    func invalidDelaysEndRetryOrAreClamped(_ seconds: Double) throws {
        struct Odd: HTTPRetryStrategy {
            let seconds: Double
            func retryDelay(for result: HTTPResult) -> TimeInterval? { result.attempts < 3 ? seconds : nil }
        }
        let chain = load(Odd(seconds: seconds))
        terminal.refuse(try only, .timedOut)
        // Not a number, or no end: no. Too much: later than any wait. Less than nothing: at once.
        let isFinal = seconds.isNaN || seconds == .infinity
        #expect(log.events.count == (isFinal ? 1 : 0))
        #expect(terminal.requests.count == (seconds < 0 ? 2 : 1))
        #expect(timers.pendingCount == (seconds > 0 && !isFinal ? 1 : 0))
        chain.reset {}
    }
}

/// Keeps its one task through cancels and resets.
private final class SlowToAnswer: HTTPLoader, @unchecked Sendable {
    private let task = Locked<HTTPTask?>(nil)
    override func load(task: HTTPTask) { self.task.withLock { $0 = task } }
    func fail(_ code: HTTPError.Code) { task.withLock { replace(&$0, with: nil) }?.fail(code) }
}
