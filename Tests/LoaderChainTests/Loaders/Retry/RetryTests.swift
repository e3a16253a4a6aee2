import Dispatch
import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct RetryTests {
    let timers = ManualTimers()
    let terminal = ScriptedTerminal()

    /// A chain with a pause of a second between attempts.
    private func chain(
        attempts: Int = 3, deadline: Duration? = nil, budget: RetryBudget? = nil
    ) -> HTTPLoader {
        let strategy = Backoff.constant(delay: 1, maximumNumberOfAttempts: attempts)
        return Retry(strategy, totalTimeout: deadline, budget: budget, timers: timers) --> terminal
    }

    private var only: HTTPTask { get throws { try #require(terminal.held.first) } }

    @Test func taskPassesThroughWithoutStrategy() throws {
        let chain = Retry(nil, timers: timers) --> terminal
        let task = HTTPTask(request: .sample)
        chain.load(task: task)
        #expect(try only === task)
        terminal.refuse(task, .timedOut)
        #expect(terminal.requests.count == 1)
    }

    /// Otherwise the body of a response that nobody reads would go on arriving during the pause.
    @Test func bodyOfRepeatedResponseIsDroppedDuringPause() throws {
        let log = EventLog()
        let chain = chain()
        chain.load(request: .sample) { log.note($0.summary) }
        do {
            var response = HTTPResponse(request: .sample, status: .serviceUnavailable)
            response.chunks = ResponseChunks(next: { nil }, onDrop: { log.note("dropped") })
            try only.complete(.success(response))
        }
        #expect(log.events == ["dropped"] && timers.pendingCount == 1)
        timers.advance(by: .seconds(1))
        terminal.answer(try only)
        #expect(log.events == ["dropped", "response"])
    }

    @Test func eachAttemptIsNewTaskAndResponseCountsThem() throws {
        let log = EventLog()
        let chain = chain()
        let task = chain.load(request: .sample) { log.note("\($0.summary) \($0.attempts)") }
        var seen = [task.id]
        for pause in 0..<3 {
            seen.append(try only.id)
            if pause < 2 {
                terminal.refuse(try only, .timedOut)
                #expect(terminal.held.isEmpty && timers.pendingCount == 1)
                timers.advance(by: .milliseconds(999))
                #expect(terminal.held.isEmpty)
                timers.advance(by: .milliseconds(1))
            }
        }
        // The caller's task and the one that travels for it are one; the attempts differ.
        #expect(Set(seen).count == 4)
        #expect("\(chain)".contains("running 1, of these waiting 0"))
        terminal.answer(try only)
        #expect(log.events == ["response 3"])
        #expect(timers.pendingCount == 0)
        #expect("\(chain)".contains("running 0"))
    }

    @Test func lastErrorIsReportedWhenAttemptsAreSpent() throws {
        let log = EventLog()
        chain(attempts: 2).load(request: .sample) { log.note("\($0.summary) \($0.attempts)") }
        terminal.refuse(try only, .timedOut)
        timers.advance(by: .seconds(1))
        terminal.refuse(try only, .connectionLost)
        #expect(log.events == ["connectionLost 2"])
        #expect(timers.pendingCount == 0)
    }

    @Test func requestStrategyTakesPrecedenceAndCanKeepState() throws {
        final class Twice: HTTPRetryStrategy, @unchecked Sendable {
            private var left = 2
            func retryDelay(for result: HTTPResult) -> TimeInterval? {
                left -= 1
                return left >= 0 ? 0 : nil
            }
        }
        var request = HTTPRequest.sample
        request.retryStrategy = Twice()
        let log = EventLog()
        chain().load(request: request) { log.note("\($0.attempts)") }
        // It asks for success to be repeated too, as one that polls does.
        for _ in 0..<3 { terminal.answer(try only) }
        #expect(log.events == ["3"])

        request.retryStrategy = Backoff.never
        chain().load(request: request) { log.note($0.summary) }
        terminal.refuse(try only, .timedOut)
        #expect(log.events == ["3", "timedOut"])
    }

    @Test(arguments: [
        (HTTPMethod.get, Bool?.none, true), (.put, nil, true), (.post, nil, false), (.patch, nil, false),
        ("BREW", nil, false), (.post, true, true), (.get, false, false),
    ])
    func onlyRepeatableRequestsAreRetried(_ method: HTTPMethod, _ says: Bool?, _ isRepeated: Bool) throws {
        var request = HTTPRequest.sample
        request.method = method
        if let says { request.isRepeatable = says }
        let log = EventLog()
        chain().load(request: request) { log.note("\($0.attempts)") }
        terminal.refuse(try only, .timedOut)
        #expect(timers.pendingCount == (isRepeated ? 1 : 0))
        #expect(log.events == (isRepeated ? [] : ["1"]))
        timers.advance(by: .seconds(1))
        if isRepeated { terminal.answer(try only) }
    }

    @Test func consumedBodyIsNotSentAgain() throws {
        struct Spent: HTTPBody {
            var canBeSentAgain: Bool { false }
            func encode() -> HTTPBodyContent { .data(Data([1])) }
        }
        var request = HTTPRequest.sample
        request.method = .put
        request.body = Spent()
        let log = EventLog()
        chain().load(request: request) { log.note("\($0.summary) \($0.attempts)") }
        terminal.refuse(try only, .connectionLost)
        #expect(log.events == ["connectionLost 1"])
    }

    @Test func cancelDuringDelayCompletesAtOnce() throws {
        let log = EventLog()
        let task = chain().load(request: .sample) { log.note("\($0.summary) \($0.attempts)") }
        terminal.refuse(try only, .timedOut)
        task.cancel()
        #expect(log.events == ["cancelled 1"])
        #expect(timers.pendingCount == 0)
        #expect(terminal.requests.count == 1)
    }

    @Test func completionByLoaderAboveEndsTheDelay() throws {
        let chain = chain()
        let task = HTTPTask(request: .sample)
        chain.load(task: task)
        terminal.refuse(try only, .timedOut)
        task.fail(.timedOut)
        #expect(timers.pendingCount == 0)
        #expect("\(chain)".contains("running 0"))
    }

    @Test func cancelledAttemptIsNotRetried() throws {
        let terminal = ScriptedTerminal(onCancel: .waits)
        let chain = Retry(.immediately(maximumNumberOfAttempts: 9), timers: timers) --> terminal
        let log = EventLog()
        let task = chain.load(request: .sample) { log.note($0.summary) }
        task.cancel()
        #expect(log.events.isEmpty)
        try terminal.refuse(#require(terminal.held.first), .connectionLost)
        #expect(log.events == ["cancelled"])
        #expect(terminal.requests.count == 1)
    }

    /// Whatever the strategy says: the chain is being reset, or a loader below has given the attempt up.
    @Test(arguments: [HTTPError.Code.resetInProgress, .cancelled])
    func stoppedAttemptIsNotRepeated(_ code: HTTPError.Code) throws {
        struct Always: HTTPRetryStrategy {
            func retryDelay(for result: HTTPResult) -> TimeInterval? { 0 }
        }
        var request = HTTPRequest.sample
        request.retryStrategy = Always()
        let log = EventLog()
        chain().load(request: request) { log.note("\($0.summary) \($0.attempts)") }
        terminal.refuse(try only, code)
        #expect(log.events == ["\(code) 1"] && terminal.requests.count == 1)
    }

    @Test func abandonedAttemptEndsTheTask() throws {
        let log = EventLog()
        chain().load(request: .sample) { log.note($0.summary) }
        terminal.forget(try only)
        #expect(log.events == ["abandoned"])
    }

    @Test func retriesStopWhenBudgetIsSpent() {
        let terminal = ScriptedTerminal { _ in .failure(.timedOut) }
        let budget = RetryBudget(ratio: 0.5, minimumPerSecond: 1, window: .seconds(4), timers: timers)
        let chain =
            Retry(.immediately(maximumNumberOfAttempts: 100), budget: budget, timers: timers)
            --> terminal
        let log = EventLog()
        for _ in 0..<10 { chain.load(request: .sample) { log.note("\($0.attempts)") } }
        // Four are always allowed; after them, every second request has paid for one.
        #expect(log.events == ["5", "2", "1", "2", "1", "2", "1", "2", "1", "2"])
        #expect(budget.remaining == 0)
        #expect("\(chain)".contains("retries left 0"))
        timers.advance(by: .seconds(4))
        #expect(budget.remaining == 4)
    }

    @Test func immediateAttemptsDoNotGrowTheStack() throws {
        try onThreads(1) { _ in
            let terminal = ScriptedTerminal { _ in .failure(.timedOut) }
            let strategy = Backoff.immediately(maximumNumberOfAttempts: 100_000)
            let log = EventLog()
            (Retry(strategy, budget: .unlimited) --> terminal).load(request: .sample) {
                log.note("\($0.summary) \($0.attempts)")
            }
            #expect(log.events == ["timedOut 100000"])
        }
    }

    @Test(arguments: [
        Retry.Configuration.none, .immediately, .constant, .exponential, .deadline, .spent,
    ])
    func keepsTheContract(_ configuration: Retry.Configuration) async {
        let violations = await ContractCheck(patience: .patient) { configuration.retry($0) }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}

extension Retry {
    enum Configuration {
        case none, immediately, constant, exponential, deadline, spent

        func retry(_ timers: ManualTimers) -> HTTPLoader {
            let many = RetryBudget(ratio: 1, minimumPerSecond: 1_000, timers: timers)
            let none = RetryBudget(ratio: 0, minimumPerSecond: 0, timers: timers)
            let constant = Backoff.constant(delay: 1, maximumNumberOfAttempts: 3)
            return switch self {
            case .none: Retry(nil, timers: timers)
            case .immediately:
                Retry(.immediately(maximumNumberOfAttempts: 3), budget: many, timers: timers)
            case .constant: Retry(constant, budget: many, timers: timers)
            case .exponential:
                Retry(
                    .exponential(delay: 1, maximumNumberOfAttempts: 5, random: RandomSource(seed: 7)),
                    budget: many, timers: timers)
            case .deadline: Retry(constant, totalTimeout: .seconds(2), budget: many, timers: timers)
            case .spent: Retry(constant, budget: none, timers: timers)
            }
        }
    }
}
