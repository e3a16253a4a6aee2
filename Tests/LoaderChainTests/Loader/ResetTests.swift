import Dispatch
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResetTests {
    @Test func everyLoaderIsResetOnceEvenWherePathsMeet() async {
        let tail = ResetCounter(), left = ResetCounter(), right = ResetCounter(), head = ResetCounter()
        left --> tail
        right --> tail
        let chain = head --> ForkedLoader([left, right]) --> tail
        await chain.reset()
        #expect([head.count, left.count, right.count, tail.count] == [1, 1, 1, 1])
        await chain.reset()
        #expect([head.count, left.count, right.count, tail.count] == [2, 2, 2, 2])
    }

    @Test func resetCallsBackAfterAllLoadersFinish() async {
        let slow = SlowToReset()
        let log = EventLog()
        (HTTPLoader() --> slow).reset { log.note("done") }
        #expect(slow.resets == 1)
        #expect(log.events.isEmpty)
        slow.finish()
        await log.waitForEvents(1)
        #expect(log.events == ["done"])
    }

    @Test func resetDuringAnotherWaitsForTasksLoadedBeforeIt() async {
        let terminal = StubbornTerminal()
        let slow = SlowToReset()
        let chain = HTTPLoader() --> Autocancel() --> slow --> terminal
        let log = EventLog()
        // Autocancel has nothing to wait for, and the reset goes on at the slow loader.
        chain.reset { log.note("first reset") }
        let task = chain.load(request: .sample) { _ in }
        chain.reset { log.note(task.isCompleted ? "second reset" : "too early") }
        #expect(slow.resets == 2)
        slow.finish()
        await log.waitForEvents(1)
        #expect(log.events == ["first reset"])
        #expect(!task.isCompleted)
        terminal.answerAll()
        await log.waitForEvents(2)
        #expect(log.events == ["first reset", "second reset"])
    }

    @Test func resetWaitsForTaskLoadedAfterPreviousReset() async {
        for _ in 0..<testSize(usually: 1000) {
            let terminal = StubbornTerminal()
            let chain = HTTPLoader() --> Autocancel() --> terminal
            let log = EventLog()
            // The reset is over when the call returns, and calls back later.
            chain.reset { log.note("") }
            let task = chain.load(request: .sample) { _ in log.note("") }
            chain.reset {
                #expect(task.isCompleted)
                log.note("")
            }
            terminal.answerAll()
            await log.waitForEvents(3)
        }
    }

    @Test func cancelledCallerStopsWaitingForReset() async throws {
        let slow = SlowToReset()
        let guardian = ResetGuard()
        let chain = guardian --> slow
        let waiting = Task { await chain.reset() }
        let waitingLong = Task { try await chain.reset(within: .seconds(3600), timers: ManualTimers()) }
        await slow.log.waitForEvents(2)
        waiting.cancel()
        waitingLong.cancel()
        await waiting.value
        var error: ResetTimedOutError?
        do { try await waitingLong.value } catch let thrown as ResetTimedOutError { error = thrown }
        #expect(error?.unfinished.map(\.loader) == ["SlowToReset"])
        // Both go on.
        #expect(guardian.details == "resets 2")
        await chain.reset(finishing: slow)
        // The ends of the three resets come in no order.
        try await eventually("all resets are over") { guardian.details.isEmpty }
    }

    @Test func loaderMayResetItsOwnChain() async throws {
        let chain = Locked<HTTPLoader?>(nil)
        let signsOut = ClosureLoader("SignsOut") { request, next in
            let response = try await next(request)
            if response.status == .unauthorized { await chain.withLock { $0 }?.reset() }
            return response
        }
        let guardian = ResetGuard()
        let whole = guardian --> Autocancel() --> signsOut --> ScriptedTerminal { _ in .success(.unauthorized) }
        chain.withLock { $0 = whole }
        for _ in 0..<3 {
            let error = await whole.result(of: .sample).error
            #expect(error?.code == .cancelled)
            await whole.reset()
            // The loader has stopped waiting for its own reset, which ends a moment after the task.
            try await eventually("the loader's reset is over") { guardian.details.isEmpty }
        }
        chain.withLock { $0 = nil }
    }

    @Test func loaderMayPassResetOnLate() async {
        final class Late: HTTPLoader, @unchecked Sendable {
            override func reset(with group: DispatchGroup) {
                group.enter()
                DispatchQueue.global().async {
                    super.reset(with: group)
                    group.leave()
                }
            }
        }
        let counter = ResetCounter()
        await (HTTPLoader() --> Late() --> counter).reset()
        #expect(counter.count == 1)
    }

    @Test func groupOfCallerWaitsForReset() {
        let counter = ResetCounter()
        let chain = HTTPLoader() --> counter
        for round in 1...3 {
            let group = DispatchGroup()
            chain.reset(with: group)
            #expect(group.wait(timeout: .patient) == .success)
            #expect(counter.count == round)
        }
    }

    @Test func resetFinishesWhileMainThreadIsBlocked() async {
        let chain = HTTPLoader() --> ScriptedTerminal { _ in .success() }
        await MainActor.run {
            // The main thread waits here, as a command-line program's does.
            let done = DispatchSemaphore(value: 0)
            chain.reset { done.signal() }
            #expect(done.wait(timeout: .patient) == .success)
        }
    }

    @Test func resetCallsBackOnRequestedQueue() async {
        // Dispatch does not say whether its keys may be shared between threads; that is what they are for.
        struct Mark: @unchecked Sendable { let key = DispatchSpecificKey<Bool>() }
        let mark = Mark()
        let queue = DispatchQueue(label: "asked-for")
        queue.setSpecific(key: mark.key, value: true)
        let isThere = await withCheckedContinuation { continuation in
            HTTPLoader().reset(on: queue) {
                continuation.resume(returning: DispatchQueue.getSpecific(key: mark.key) == true)
            }
        }
        #expect(isThere)
    }

    @Test func concurrentResetsAllCallBack() async throws {
        let counter = ResetCounter()
        let chain = HTTPLoader() --> counter
        let log = EventLog()
        try onThreads(4) { _ in
            for _ in 0..<50 { chain.reset { log.note("done") } }
        }
        await log.waitForEvents(200)
        #expect((1...200).contains(counter.count))
    }

    @Test func finishedResetReleasesChain() async throws {
        weak var gone: HTTPLoader?
        do {
            let chain = HTTPLoader() --> ResetCounter()
            gone = chain
            await chain.reset()
        }
        // The one who called back may still be about to let go of the chain.
        try await eventually("the chain is released") { gone == nil }
    }
}
