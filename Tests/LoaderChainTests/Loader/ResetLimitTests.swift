import Dispatch
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResetLimitTests {
    private let timers = ManualTimers()
    private let terminal = StubbornTerminal()
    private let chain: HTTPLoader

    init() {
        chain = ResetGuard() --> Autocancel() --> Retry(.never) --> terminal
    }

    @Test func resetWithinLimitLeavesNoTimer() async throws {
        try await chain.reset(within: .seconds(5), timers: timers)
        #expect(timers.pendingCount == 0)
    }

    @Test func taskIgnoringCancelIsNamedAndChainAcceptsTasksAgain() async throws {
        let log = EventLog()
        chain.load(request: HTTPRequest(host: "example.com", path: "/slow")) { log.note($0.summary) }
        let over = EventLog()
        let found = Locked<ResetTimedOutError?>(nil)
        // This form returns when all loaders have been called; the asynchronous form may be at any of them when its timer
        // waits.
        chain.reset(within: .seconds(5), timers: timers) { result in
            if case .failure(let error) = result { found.withLock { $0 = error } }
            over.note("over")
        }
        #expect(outcomeAtOnce() == "resetInProgress")
        timers.advance(by: .seconds(5))
        await over.waitForEvents(1)
        let error = try #require(found.withLock { $0 }, "The reset ended although a task ran")
        #expect(error.limit == .seconds(5))
        #expect(error.unfinished.map(\.loader) == ["Autocancel", "Retry"])
        let task = try #require(error.unfinished.first?.tasks.first)
        #expect(task.request.path == "/slow")
        #expect("\(error)".contains("with StubbornTerminal"), "\(error)")
        #expect("\(error)".contains("Autocancel(in flight 1) waits for HTTPTask"), "\(error)")
        // At once, and not only when the task has ended.
        #expect(outcomeAtOnce() == nil)
        #expect(terminal.count == 2)
        terminal.answerAll()
        await log.waitForEvents(1)
        await chain.reset()
        #expect(timers.pendingCount == 0)
    }

    @Test func loaderResetAfterLimitAcceptsTasksAgain() async {
        let chain =
            ResetGuard() --> ActsAtReset { [timers] in timers.advance(by: .seconds(1)) } --> Autocancel() --> terminal
        let ended = EventLog()
        chain.load(request: .sample) { ended.note($0.summary) }
        let log = EventLog()
        chain.reset(within: .seconds(1), timers: timers) { log.note($0.isSuccess ? "success" : "timed out") }
        await log.waitForEvents(1)
        #expect(log.events == ["timed out"])
        #expect(outcomeAtOnce(of: chain) == nil)
        #expect(terminal.count == 2)
        terminal.answerAll()
        await ended.waitForEvents(1)
    }

    @Test func idleResetSucceedsWithZeroLimit() async throws {
        for _ in 0..<200 { try await chain.reset(within: .zero) }
        chain.load(request: .sample) { _ in }
        await #expect(throws: ResetTimedOutError.self) { try await chain.reset(within: .zero) }
        #expect(outcomeAtOnce() == nil)
        terminal.answerAll()
    }

    @Test func loaderThatNeverLeavesGroupIsNamed() async {
        let slow = SlowToReset()
        // The slow loader is the last, so that the reset is not on its way through another loader when the time is up.
        let chain = HTTPLoader() --> HTTPLoader() --> slow
        async let reset: Void = chain.reset(within: .seconds(1), timers: timers)
        // The timer starts before the first loader is reset.
        await slow.log.waitForEvents(1)
        timers.advance(by: .seconds(1))
        do {
            try await reset
            Issue.record("The reset ended although a loader had not finished")
        } catch {
            #expect("\(error)" == "The reset was not finished after 1.0 seconds: SlowToReset")
        }
        // Too late, and without consequences.
        slow.finish()
    }

    @Test func loadersThatWereNotResetAreNamed() async {
        let chain =
            HTTPLoader() --> ActsAtReset { [timers] in timers.advance(by: .seconds(1)) } --> Autocancel()
            --> Retry(.never) --> terminal
        let log = EventLog()
        chain.reset(within: .seconds(1), timers: timers) {
            if case .failure(let error) = $0 { log.note("\(error)") }
        }
        await log.waitForEvents(1)
        #expect(
            log.events == [
                "The reset was not finished after 1.0 seconds: ActsAtReset; not reset: Autocancel, Retry, StubbornTerminal"
            ])
    }

    @Test func resetWithoutLimitContinuesAfterLimitedResetTimesOut() async {
        let slow = SlowToReset()
        let chain = ResetGuard() --> slow --> terminal
        let log = EventLog()
        chain.reset { log.note("whole") }
        chain.reset(within: .seconds(1), timers: timers) { log.note($0.isSuccess ? "success" : "timed out") }
        timers.advance(by: .seconds(1))
        await log.waitForEvents(1)
        #expect(log.events == ["timed out"])
        #expect(outcomeAtOnce(of: chain) == "resetInProgress")
        slow.finish()
        await log.waitForEvents(2)
        #expect(log.events == ["timed out", "whole"])
        #expect(outcomeAtOnce(of: chain) == nil)
    }

    @Test func resetAfterTimeoutResetsLoadersAgain() async {
        let slow = SlowToReset()
        let chain = ResetGuard() --> slow
        for round in 1...3 {
            let log = EventLog()
            chain.reset(within: .seconds(round), timers: timers) { log.note($0.isSuccess ? "success" : "timed out") }
            #expect(slow.resets == round)
            timers.advance(by: .seconds(round))
            await log.waitForEvents(1)
            #expect(log.events == ["timed out"])
        }
    }

    @Test func callerIsCalledOnceWhenEndRacesLimit() async throws {
        for round in 0..<100 {
            let slow = SlowToReset()
            let chain = ResetGuard() --> slow
            let log = EventLog()
            chain.reset(within: .seconds(1), timers: timers) { _ in log.note("") }
            try onThreads(2) { [timers] number in
                if number == round % 2 { slow.finish() } else { timers.advance(by: .seconds(1)) }
            }
            await log.waitForEvents(1)
            await chain.reset(finishing: slow)
            #expect(log.events.count == 1)
        }
    }

    @Test func groupCanBeUsedForSeveralResets() {
        let first = ResetCounter(), second = ResetCounter()
        let chain = HTTPLoader() --> first
        let other = HTTPLoader() --> second
        let group = DispatchGroup()
        group.enter()
        chain.reset(with: group)
        chain.reset(with: group)
        other.reset(with: group)
        group.leave()
        #expect(group.wait(timeout: .patient) == .success)
        #expect([first.count, second.count] == [2, 1])
    }

    /// The result of a task, if it has one at once.
    private func outcomeAtOnce() -> String? { outcomeAtOnce(of: chain) }

    private func outcomeAtOnce(of chain: HTTPLoader) -> String? {
        let log = EventLog()
        chain.load(request: .sample) { log.note($0.summary) }
        return log.events.first
    }
}

/// Does something while it is reset.
private final class ActsAtReset: HTTPLoader, @unchecked Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    override func reset(with group: DispatchGroup) {
        action()
        super.reset(with: group)
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
