import Dispatch
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// Code that blocks its thread when a wait has ended, and needs other waits to end meanwhile.
@Suite(.timeLimit(.minutes(10))) struct BlockingActionsTests {
    private let timers = SystemTimers()

    @Test func blockingLoaderDoesNotDelayTimersOfOtherChain() async {
        let other = slowChain()
        let waited = Locked<[DispatchTimeoutResult]>([])
        let chain =
            Retry(Soon(), budget: .unlimited, timers: timers)
            --> FailingFirst { waited.withLock { $0.append(wait(for: other)) } }
        let log = EventLog()
        chain.load(request: .sample) { log.note($0.summary) }
        await log.waitForEvents(1)
        #expect(log.events == ["response"])
        #expect(waited.withLock { $0 } == [.success])
    }

    @Test func handlerMayWaitForResultOfOtherChain() async {
        let other = slowChain()
        let waited = Locked<DispatchTimeoutResult?>(nil)
        let chain = Retry(Soon(), budget: .unlimited, timers: timers) --> FailingFirst {}
        let log = EventLog()
        chain.load(request: .sample) { [self] _ in
            let result = wait(for: other)
            waited.withLock { $0 = result }
            log.note("done")
        }
        await log.waitForEvents(1)
        #expect(waited.withLock { $0 } == .success)
    }

    @Test func timersRunWhile64LoadersBlock() async {
        let blocked = EventLog()
        let ended = EventLog()
        let release = DispatchSemaphore(value: 0)
        let chain =
            Retry(Soon(), budget: .unlimited, timers: timers)
            --> FailingFirst {
                blocked.note("")
                release.wait()
            }
        let count = 64
        for number in 0..<count {
            chain.load(request: HTTPRequest(host: "example.com", path: "/\(number)")) { ended.note($0.summary) }
        }
        await blocked.waitForEvents(count)
        let other = slowChain()
        let answered = EventLog()
        other.load(request: .sample) { answered.note($0.summary) }
        await answered.waitForEvents(1)
        #expect(answered.events == ["response"])
        for _ in 0..<count { release.signal() }
        await ended.waitForEvents(count)
        #expect(ended.events == Array(repeating: "response", count: count))
        withExtendedLifetime(other) {}
    }

    @Test func actionIsReleasedBeforeThreadRunsNext() async {
        let timers = SystemTimers(lanes: 1)
        let log = EventLog()
        let start = DispatchSemaphore(value: 0)
        func action(holding canary: Canary) -> @Sendable () -> Void {
            {
                start.wait()
                log.note("first")
                withExtendedLifetime(canary) {}
            }
        }
        timers.schedule(after: .zero, action(holding: Canary(log: log)))
        timers.schedule(after: .zero) { log.note("second") }
        start.signal()
        await log.waitForEvents(3)
        #expect(log.events == ["first", "released", "second"])
    }

    @Test func timersWaitAndCanBeCancelledWhileAllThreadsBlock() async {
        let timers = SystemTimers(lanes: 2)
        let log = EventLog()
        let release = DispatchSemaphore(value: 0)
        for _ in 0..<2 {
            timers.schedule(after: .zero) {
                log.note("blocks")
                release.wait()
            }
        }
        await log.waitForEvents(2)
        let cancelled = timers.schedule(after: .zero) { log.note("cancelled") }
        timers.schedule(after: .zero) { log.note("runs") }
        #expect(cancelled.cancel())
        release.signal()
        await log.waitForEvents(3)
        #expect(log.events == ["blocks", "blocks", "runs"])
        release.signal()
    }

    /// A chain whose first task has to wait for a timer.
    private func slowChain() -> HTTPLoader {
        Retry(Soon(), budget: .unlimited, timers: timers) --> FailingFirst {}
    }

    private func wait(for chain: HTTPLoader) -> DispatchTimeoutResult {
        let done = DispatchSemaphore(value: 0)
        chain.load(request: .sample) { _ in done.signal() }
        return done.wait(timeout: .patient)
    }
}

/// Says when it is released.
private final class Canary: Sendable {
    private let log: EventLog

    init(log: EventLog) { self.log = log }

    deinit { log.note("released") }
}

/// Wants one more attempt, after a pause.
private struct Soon: HTTPRetryStrategy {
    func retryDelay(for result: HTTPResult) -> Double? { result.error == nil ? nil : 0.001 }
}

/// Fails the first attempt for a path; for the next one, runs code of the test before it answers.
private final class FailingFirst: HTTPLoader, @unchecked Sendable {
    private let failed = Locked<Set<String>>([])
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override func load(task: HTTPTask) {
        if failed.withLock({ $0.insert(task.request.path).inserted }) {
            fail(task, .connectionLost)
            return
        }
        body()
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }
}
