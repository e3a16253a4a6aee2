import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// A task and its deadline, wherever the task is then.
@Suite(.timeLimit(.minutes(10))) final class TaskDeadlineTests {
    let timers = ManualTimers()
    let terminal = ScriptedTerminal()
    let log = EventLog()

    private func request(within time: Duration?) -> HTTPRequest {
        var request = HTTPRequest.sample
        request.deadline = time.map { .after($0, on: timers) }
        return request
    }

    private var only: HTTPTask { get throws { try #require(terminal.held.first) } }

    @Test func taskEndsAtItsDeadline() throws {
        let seen = Locked<HTTPError?>(nil)
        terminal.load(request: request(within: .seconds(2))) { result in seen.withLock { $0 = result.error } }
        timers.advance(by: .milliseconds(1_999))
        #expect(seen.withLock { $0 } == nil)
        timers.advance(by: .milliseconds(1))
        let error = try #require(seen.withLock { $0 })
        #expect(error.code == .deadlineExceeded && error.loader == "ScriptedTerminal")
        #expect(error.reason == "The request's deadline of 2.0 seconds passed while ScriptedTerminal had it")
        #expect(timers.pendingCount == 0)
    }

    @Test func resultInTimeLeavesNoTimer() throws {
        terminal.load(request: request(within: .seconds(2))) { [log] in log.note($0.summary) }
        #expect(timers.pendingCount == 1)
        terminal.answer(try only)
        #expect(log.events == ["response"] && timers.pendingCount == 0)
    }

    @Test func taskThatIsNeverLoadedLeavesNoTimer() {
        _ = HTTPTask(request: request(within: .seconds(2)))
        #expect(timers.pendingCount == 0)
    }

    @Test func abandonedTaskLeavesNoTimer() throws {
        terminal.load(request: request(within: .seconds(2))) { [log] in log.note($0.summary) }
        terminal.forget(try only)
        #expect(log.events == ["abandoned"] && timers.pendingCount == 0)
    }

    @Test func passedDeadlineFailsTaskAtFirstLoader() {
        let late = request(within: .zero)
        (HTTPLoader() --> terminal).load(request: late) { [log] result in
            log.note("\(result.summary) \(result.error?.loader ?? "")")
        }
        #expect(log.events == ["deadlineExceeded HTTPLoader"])
        #expect(terminal.requests.isEmpty)
    }

    @Test func deadlinePassedInLoaderFailsTaskAtNextLoader() {
        // A machine that wakes up is ahead of its timers.
        let clock = LateTimers()
        var late = HTTPRequest.sample
        late.deadline = .after(.seconds(2), on: clock)
        let chain = ModifyRequest { request in
            clock.sleep(for: .seconds(3))
            return request
        }
        (chain --> terminal).load(request: late) { [log] in log.note($0.summary) }
        #expect(log.events == ["deadlineExceeded"])
        #expect(terminal.requests.isEmpty)
    }

    @Test func cancelBeforeDeadlineDeterminesResult() {
        let waits = ScriptedTerminal(onCancel: .waits)
        let task = waits.load(request: request(within: .seconds(2))) { [log] in log.note($0.summary) }
        task.cancel()
        timers.advance(by: .seconds(3))
        for task in waits.held { waits.answer(task) }
        #expect(log.events == ["cancelled"] && timers.pendingCount == 0)
    }

    @Test func deadlineBeforeCancelDeterminesResult() {
        let waits = ScriptedTerminal(onCancel: .waits)
        let task = waits.load(request: request(within: .seconds(2))) { [log] in log.note($0.summary) }
        timers.advance(by: .seconds(2))
        #expect(task.isCancelled && log.events == ["deadlineExceeded"])
        let isFirst = task.cancel()
        #expect(!isFirst)
        for task in waits.held { waits.answer(task) }
        #expect(log.events == ["deadlineExceeded"])
    }

    /// A vendor's code that knows no cancels, in an async loader, and a loader that keeps tasks.
    @Test(arguments: [true, false])
    func callerReturnsAtDeadlineWhenCancelIsIgnored(_ isAsync: Bool) async throws {
        let (answers, answer) = AsyncStream<Void>.makeStream()
        let begun = EventLog()
        let vendor = ClosureLoader("Vendor") { request, next in
            begun.note("")
            // Not cancelled with the task that waits for it.
            await Task { for await _ in answers {} }.value
            return try await next(request)
        }
        let stubborn = StubbornTerminal()
        let chain = ResetGuard() --> (isAsync ? vendor : HTTPLoader()) --> stubborn
        let limited = request(within: .seconds(1))
        async let result = chain.result(of: limited)
        // The deadline is watched before any loader has the task.
        if isAsync {
            await begun.waitForEvents(1)
        } else {
            try await eventually("the task is kept") { stubborn.count == 1 }
        }
        #expect(timers.pendingCount == 1)
        timers.advance(by: .seconds(1))
        let error = try #require(await result.error)
        #expect(error.code == .deadlineExceeded)
        #expect(error.loader == (isAsync ? "Vendor" : "StubbornTerminal"))
        // Late, and dropped.
        answer.finish()
        stubborn.answerAll()
    }

    /// There is no deadline: the caller's Swift task is cancelled.
    @Test func cancelledCallerReturnsAfterTenSecondsWhenCancelIsIgnored() async throws {
        let stubborn = StubbornTerminal()
        let guardian = Autocancel()
        let chain = guardian --> Retry(.never) --> stubborn
        let waiting = Task { [timers] in
            await HTTPTask(request: .sample).result(on: timers) { if chain.accept($0) { chain.load(task: $0) } }
        }
        try await eventually("the task is kept") { stubborn.count == 1 }
        waiting.cancel()
        timers.advance(by: .milliseconds(9_999))
        #expect(timers.pendingCount == 1)
        timers.advance(by: .milliseconds(1))
        let error = try #require(await waiting.value.error)
        #expect(error.code == .cancelled && error.loader == "StubbornTerminal")
        #expect(error.reason == "It was not stopped within 10.0 seconds of the cancel")
        // The loaders go on until it has ended.
        #expect(guardian.details == "in flight 1")
        stubborn.answerAll()
        #expect(guardian.details == "in flight 0")
    }

    @Test func cancelledCallerLeavesNoTimerWhenLoaderStops() async {
        let waiting = Task { [timers, terminal] in
            await HTTPTask(request: .sample).result(on: timers) { terminal.load(task: $0) }
        }
        _ = await terminal.next()
        waiting.cancel()
        #expect(await waiting.value.error?.code == .cancelled)
        #expect(timers.pendingCount == 0)
    }

    @Test func cancelledCallerLeavesNoTimerWhenLoaderStopsLater() async {
        let slow = ScriptedTerminal(onCancel: .waits)
        let waiting = Task { [timers] in
            await HTTPTask(request: .sample).result(on: timers) { slow.load(task: $0) }
        }
        let held = await slow.next()
        waiting.cancel()
        #expect(timers.pendingCount == 1)
        slow.answer(held)
        #expect(await waiting.value.error?.code == .cancelled)
        #expect(timers.pendingCount == 0)
    }

    @Test func errorNamesLoaderBelowRetryThatIgnoresCancel() throws {
        let stubborn = StubbornTerminal()
        let chain = Retry(.immediately(maximumNumberOfAttempts: 3), timers: timers) --> stubborn
        let seen = Locked<HTTPError?>(nil)
        chain.load(request: request(within: .seconds(1))) { result in seen.withLock { $0 = result.error } }
        timers.advance(by: .seconds(1))
        let error = try #require(seen.withLock { $0 })
        #expect(error.code == .deadlineExceeded && error.loader == "StubbornTerminal")
        #expect(timers.pendingCount == 0)
        stubborn.answerAll()
    }

    @Test(arguments: [HTTPError.Code.deadlineExceeded, .cancelled, .connectionLost])
    func filtersCannotReplaceDeadlineError(_ code: HTTPError.Code) {
        (Judging(code) --> terminal).load(request: request(within: .seconds(1))) { [log] in log.note($0.summary) }
        timers.advance(by: .seconds(1))
        #expect(log.events == ["deadlineExceeded"])
    }

    // MARK: Rewriting

    @Test(
        arguments: [
            (nil, 1, 1), (1, nil, 1), (1, 2, 1), (2, 1, 1), (1, 1, 1), (nil, nil, nil),
        ] as [(Int?, Int?, Int?)])
    func earlierDeadlineWins(_ first: Int?, _ second: Int?, _ expected: Int?) throws {
        let task = HTTPTask(request: request(within: first.map { .seconds($0) }))
        task.addCompletionHandler { [log] in log.note($0.summary) }
        task.request = request(within: second.map { .seconds($0) })
        #expect(task.request.deadline?.remaining == expected.map { Duration.seconds($0) })
        #expect(timers.pendingCount == (expected == nil ? 0 : 1))
        terminal.load(task: task)
        if let expected {
            timers.advance(by: .seconds(expected))
            #expect(log.events == ["deadlineExceeded"])
        } else {
            terminal.answer(try only)
        }
        #expect(timers.pendingCount == 0)
    }

    @Test func deadlineSurvivesReplacementOfRequest() {
        let chain = ModifyRequest { _ in HTTPRequest.sample } --> terminal
        chain.load(request: request(within: .seconds(1))) { [log] in log.note($0.summary) }
        timers.advance(by: .seconds(1))
        #expect(log.events == ["deadlineExceeded"])
    }

    @Test func loaderMaySetDeadlineForAllTasks() {
        let chain = ModifyRequest { [timers] request in
            var request = request
            request.deadline = .after(.seconds(3), on: timers)
            return request
        }
        chain --> terminal
        for time in [nil, 1, 5] as [Int?] {
            (chain as HTTPLoader).load(request: request(within: time.map { .seconds($0) })) { [log] result in
                log.note("\(time ?? 0) \(result.summary)")
            }
        }
        timers.advance(by: .seconds(1))
        #expect(log.events == ["1 deadlineExceeded"])
        timers.advance(by: .seconds(2))
        #expect(log.events == ["1 deadlineExceeded", "0 deadlineExceeded", "5 deadlineExceeded"])
    }

    // MARK: Attempts

    @Test(arguments: [(2, nil), (2, 5), (5, 2), (nil, 2)] as [(Int?, Int?)])
    func attemptEndsAtEarlierDeadline(_ task: Int?, _ attempt: Int?) throws {
        let ownTask = HTTPTask(request: request(within: task.map { .seconds($0) }))
        let ownAttempt = ownTask.makeAttempt(request(within: attempt.map { .seconds($0) }))
        ownAttempt.addCompletionHandler { [log] in log.note("attempt \($0.summary)") }
        ownTask.addCompletionHandler { [log] in log.note("task \($0.summary)") }
        terminal.load(task: ownAttempt)
        timers.advance(by: .seconds(2))
        #expect(log.events == ["attempt deadlineExceeded"] + (task == 2 ? ["task deadlineExceeded"] : []))
        ownTask.fail(.connectionLost)
        #expect(log.events.last == (task == 2 ? "task deadlineExceeded" : "task connectionLost"))
        #expect(timers.pendingCount == 0)
    }

    @Test func attemptsShareTimerOfTaskDeadline() {
        let task = HTTPTask(request: request(within: .seconds(2)))
        let attempts = (0..<3).map { _ in task.makeAttempt() } + [task.makeAttempt(.sample)]
        #expect(timers.pendingCount == 1)
        for attempt in attempts { terminal.load(task: attempt) }
        timers.advance(by: .seconds(2))
        #expect(attempts.allSatisfy { $0.isCompleted })
        #expect(task.makeAttempt().isCancelled)
        task.fail(.unknown)
    }

    @Test func deadlineAppliesToAsyncLoader() async throws {
        let chain = ClosureLoader { _, next in try await next(.sample) } --> terminal
        let task = HTTPTask(request: request(within: .seconds(2)))
        async let result = task.result { chain.load(task: $0) }
        _ = await terminal.next()
        timers.advance(by: .seconds(2))
        let summary = await result.summary
        #expect(summary == "deadlineExceeded")
    }

    // MARK: Reading results

    @Test func deadlineExceededIsNotTransient() {
        let error = HTTPError(
            .deadlineExceeded, request: .sample, response: HTTPResponse(request: .sample, status: .serviceUnavailable))
        #expect(!HTTPResult.failure(error).isTransientFailure)
    }
}

/// Makes the same of every result.
private final class Judging: HTTPLoader, @unchecked Sendable {
    private let code: HTTPError.Code
    init(_ code: HTTPError.Code) { self.code = code }

    override func load(task: HTTPTask) {
        task.addResultFilter { [code] _ in .failure(HTTPError(code, request: .sample)) }
        super.load(task: task)
    }
}

/// A clock whose timers never ring.
private final class LateTimers: Timers {
    private let present = Locked(TimerInstant(nanoseconds: 0))
    private let timers = ManualTimers()
    var now: TimerInstant { present.withLock { $0 } }
    var date: Date { timers.date }
    func sleep(for time: Duration) { present.withLock { $0 = $0.advanced(by: time) } }
    func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        timers.schedule(at: deadline, action)
    }
}
