import Dispatch
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// The contract of a task, line by line, on the real one.
@Suite(.timeLimit(.minutes(10))) struct HTTPTaskTests {
    // MARK: 1. A task completes exactly once

    @Test func everyEventSequenceAgreesWithNaiveTask() {
        forEverySequence(upTo: 5) { sequence in
            let driven = DrivenTask()
            var naive = NaiveTask()
            for (step, event) in sequence.enumerated() {
                driven.happens(event, at: step)
                naive.happens(event, at: step)
            }
            guard driven.log.events != naive.calls || driven.answers != naive.answers else { return }
            Issue.record(
                "\(sequence): \(driven.log.events) \(driven.answers), not \(naive.calls) \(naive.answers)")
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8])
    func concurrentCompletionSucceedsOnce(seed: UInt64) throws {
        for round in 0..<200 as Range<UInt64> {
            let wins = Locked(0)
            let heard = Locked<[String]>([])
            let cancelsHeard = Locked(0)
            let cancelWon = Locked(false)
            var task: HTTPTask? = HTTPTask(request: .sample)
            task?.addCompletionHandler { result in heard.withLock { $0.append(result.summary) } }
            task?.addCancelHandler { cancelsHeard.withLock { $0 += 1 } }
            try onThreads(4) { [task] thread in
                var random = SeededGenerator(seed: seed &* 1_000_003 &+ round &* 31 &+ UInt64(thread))
                for _ in 0..<3 {
                    switch random.next() % 5 {
                    case 0:
                        if task?.complete(.sample) == true { wins.withLock { $0 += 1 } }
                    case 1:
                        if task?.fail(.timedOut) == true { wins.withLock { $0 += 1 } }
                    case 2:
                        if task?.cancel() == true { cancelWon.withLock { $0 = true } }
                    case 3:
                        task?.addCompletionHandler { result in heard.withLock { $0.append(result.summary) } }
                    default:
                        task?.addCancelHandler {}
                    }
                }
            }
            task = nil
            let outcomes = heard.withLock { Set($0) }
            #expect(wins.withLock { $0 } <= 1, "seed \(seed), round \(round)")
            #expect(outcomes.count == 1, "seed \(seed), round \(round): \(outcomes)")
            if cancelWon.withLock({ $0 }) { #expect(outcomes == ["cancelled"], "seed \(seed), round \(round)") }
            #expect(cancelsHeard.withLock { $0 } == (cancelWon.withLock { $0 } ? 1 : 0), "seed \(seed), round \(round)")
        }
    }

    @Test func laterCompletionsReturnFalse() {
        let task = HTTPTask(request: .sample)
        #expect(task.complete(.sample))
        #expect(!task.complete(.sample))
        #expect(!task.fail(.timedOut))
        #expect(!task.cancel())
        #expect(task.isCompleted)
        #expect(!task.isCancelled)
    }

    @Test func cancelDoesNotCompleteTask() {
        let log = EventLog()
        let task = HTTPTask(request: .sample)
        task.addCompletionHandler { log.note($0.summary) }
        #expect(task.cancel())
        #expect(!task.cancel())
        #expect(task.isCancelled)
        #expect(log.events.isEmpty)
        #expect(task.complete(.sample))
        #expect(log.events == ["cancelled"])
    }

    @Test func cancelledTaskKeepsArrivedResponse() throws {
        let task = HTTPTask(request: .sample)
        task.cancel()
        let seen = Locked<HTTPResult?>(nil)
        task.complete(.sample)
        task.addCompletionHandler { result in seen.withLock { $0 = result } }
        let error = try #require(seen.withLock { $0?.error })
        #expect(error.code == .cancelled)
        #expect(error.response?.status == .ok)
    }

    // MARK: 2. Completion handlers

    @Test func handlersRunLastRegisteredFirst() {
        let log = EventLog()
        let task = HTTPTask(request: .sample) { _ in log.note("caller") }
        for number in 1...6 { task.addCompletionHandler { log.note("node \(number)") } }
        task.complete(.sample)
        #expect(log.events == ["node 6", "node 5", "node 4", "node 3", "node 2", "node 1", "caller"])
    }

    @Test func lateHandlerRunsAtOnceWithResult() {
        let log = EventLog()
        let task = HTTPTask(request: .sample)
        task.fail(.timedOut)
        task.addCompletionHandler { log.note($0.summary) }
        #expect(log.events == ["timedOut"])
    }

    @Test func handlersAreReleasedAfterCompletion() {
        let task = HTTPTask(request: .sample)
        weak var kept: EventLog?
        do {
            let log = EventLog()
            kept = log
            task.addCompletionHandler { log.note("completed") }
            task.addCancelHandler { log.note("cancelled") }
        }
        #expect(kept != nil)
        task.complete(.sample)
        #expect(kept == nil)
    }

    @Test func handlerHoldingItsTaskDoesNotLeak() {
        weak var gone: HTTPTask?
        do {
            let task = HTTPTask(request: .sample)
            gone = task
            task.addCompletionHandler { _ = task.id }
            task.complete(.sample)
        }
        #expect(gone == nil)
    }

    // MARK: 3. Cancel handlers

    @Test func cancelHandlersRunOnceLastRegisteredFirst() {
        let log = EventLog()
        let task = HTTPTask(request: .sample)
        for number in 1...6 { task.addCancelHandler { log.note("\(number)") } }
        task.cancel()
        task.cancel()
        task.complete(.sample)
        #expect(log.events == ["6", "5", "4", "3", "2", "1"])
    }

    @Test func cancelHandlersDoNotRunAfterCompletion() {
        let log = EventLog()
        let task = HTTPTask(request: .sample)
        task.addCancelHandler { log.note("early") }
        task.complete(.sample)
        task.cancel()
        task.addCancelHandler { log.note("late") }
        #expect(log.events.isEmpty)
    }

    @Test func cancelHandlerAddedAfterCancelRunsAtOnce() {
        let log = EventLog()
        let task = HTTPTask(request: .sample)
        task.cancel()
        task.addCancelHandler { log.note("before the end") }
        task.complete(.sample)
        task.addCancelHandler { log.note("after the end") }
        #expect(log.events == ["before the end", "after the end"])
    }

    @Test func observerReceivesCancelAndCompletion() {
        final class Observer: HTTPTaskObserver {
            let log = EventLog()
            func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) { log.note(result.summary) }
            func taskWasCancelled(_ task: HTTPTask) { log.note("asked") }
        }
        let observer = Observer()
        let task = HTTPTask(request: .sample)
        task.addObserver(observer)
        task.cancel()
        task.complete(.sample)
        task.addObserver(observer)
        #expect(observer.log.events == ["asked", "cancelled", "cancelled"])
    }

    @Test func cancelHandlersRunBeforeCompletionHandlers() {
        let log = EventLog()
        let task = HTTPTask(request: .sample) { log.note("caller: \($0.summary)") }
        task.addCancelHandler { log.note("above") }
        task.addCompletionHandler { log.note("above: \($0.summary)") }
        task.addCancelHandler { task in
            log.note("terminal")
            task.complete(.sample)
        }
        task.cancel()
        #expect(log.events == ["terminal", "above", "above: cancelled", "caller: cancelled"])
    }

    @Test func cancelHandlerWithTaskArgumentDoesNotRetainTask() {
        let log = EventLog()
        var task: HTTPTask? = HTTPTask(request: .sample) { log.note($0.summary) }
        task?.addCancelHandler { task in task.fail(.cancelled) }
        task = nil
        #expect(log.events == ["abandoned"])
    }

    // MARK: 4. Abandoned tasks

    @Test func cancelHandlerReceivesObjectItWasRegisteredWith() {
        let task = HTTPTask(request: .sample)
        let handle = task.makeChainHandle()
        let handed = Locked<[HTTPTask]>([])
        for object in [task, handle] {
            object.addCancelHandler { cancelled in handed.withLock { $0.append(cancelled) } }
        }
        task.cancel()
        #expect(handed.withLock { $0.count } == 2)
        #expect(handed.withLock { $0.first } === handle)
        #expect(handed.withLock { $0.last } === task)
        handle.fail(.cancelled)
    }

    @Test func chainHandleSharesStateWithCallersTask() {
        let task = HTTPTask(request: .sample)
        let handle = task.makeChainHandle()
        let log = EventLog()
        handle.addCompletionHandler { log.note("below") }
        task.addCompletionHandler { log.note("above") }
        handle.addCompletionHandler { log.note("further below") }
        handle.request.headers["X-Trace"] = "1"
        #expect(handle.id == task.id)
        #expect(task.request.headers["X-Trace"] == "1")
        #expect(handle.complete(.sample))
        #expect(!task.complete(.sample))
        #expect(task.isCompleted)
        #expect(log.events == ["further below", "below", "above"])
    }

    @Test func droppedTaskCompletesAsAbandoned() {
        let log = EventLog()
        var task: HTTPTask? = HTTPTask(request: .sample)
        let id = task?.id
        task?.addCompletionHandler { log.note($0.summary) }
        task = nil
        #expect(log.events == ["abandoned"])

        final class Observer: HTTPTaskObserver {
            let ids = Locked<[HTTPTask]>([])
            func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) { ids.withLock { $0.append(task) } }
        }
        let observer = Observer()
        task = HTTPTask(request: .sample)
        let observed = task?.id
        task?.addObserver(observer)
        task = nil
        // The task outlives the call, although the object that was observed did not.
        #expect(observer.ids.withLock { $0.map(\.id) } == [observed])
        #expect(observer.ids.withLock { $0.map(\.isCompleted) } == [true])
        #expect(observed != id)
    }

    @Test func taskDroppedAfterCancelCompletesAsCancelled() {
        let log = EventLog()
        var task: HTTPTask? = HTTPTask(request: .sample)
        task?.addCompletionHandler { log.note($0.summary) }
        task?.cancel()
        task = nil
        #expect(log.events == ["cancelled"])
    }

    // MARK: 5. Calls from inside handlers

    @Test func anyMethodMayBeCalledFromHandlers() {
        let log = EventLog()
        let task = HTTPTask(request: .sample)
        task.addCompletionHandler { result in
            log.note("first \(result.summary)")
            #expect(!task.complete(.sample))
            #expect(!task.cancel())
            task.addCompletionHandler { log.note("added in the handler") }
        }
        task.addCancelHandler {
            log.note("cancel")
            task.addCancelHandler { log.note("added in the cancel handler") }
            task.addCompletionHandler { log.note("completed in the cancel handler") }
            task.complete(.sample)
        }
        task.cancel()
        #expect(
            log.events == [
                "cancel", "added in the cancel handler", "completed in the cancel handler", "first cancelled",
                "added in the handler",
            ])
    }

    // MARK: Filters

    @Test func filtersReplaceResultForAllHandlers() {
        let log = EventLog()
        let task = HTTPTask(request: .sample) { log.note("above: \($0.summary)") }
        task.addResultFilter { result in
            log.note("second filter: \(result.summary)")
            return .failure(HTTPError(.invalidResponse, request: result.request))
        }
        task.addResultFilter { result in
            log.note("first filter: \(result.summary)")
            return .failure(HTTPError(.timedOut, request: result.request))
        }
        task.addCompletionHandler { log.note("below: \($0.summary)") }
        #expect(task.complete(.sample))
        #expect(!task.complete(.sample))
        #expect(
            log.events == [
                "first filter: response", "second filter: timedOut", "below: invalidResponse", "above: invalidResponse",
            ])
    }

    @Test func cancelInFilterOverridesResult() {
        let log = EventLog()
        let task = HTTPTask(request: .sample) { log.note($0.summary) }
        task.addResultFilter { result in
            task.cancel()
            #expect(!task.complete(.sample))
            return result
        }
        #expect(task.complete(.sample))
        #expect(log.events == ["cancelled"])
    }

    @Test func filterSeesCancelledTaskAsCancelled() {
        let log = EventLog()
        let task = HTTPTask(request: .sample) { log.note($0.summary) }
        task.addResultFilter { result in
            log.note("filter: \(result.summary)")
            return .sample
        }
        task.cancel()
        task.complete(.sample)
        #expect(log.events == ["filter: cancelled", "cancelled"])
    }

    @Test func abandonedTaskPassesItsFilters() {
        let log = EventLog()
        var task: HTTPTask? = HTTPTask(request: .sample) { log.note($0.summary) }
        task?.addResultFilter { _ in .sample }
        task = nil
        #expect(log.events == ["response"])
    }

    // MARK: Attempts

    @Test func cancelReachesAttempts() {
        let task = HTTPTask(request: .sample)
        let attempts = [task.makeAttempt(), task.makeAttempt(), task.makeAttempt()]
        task.cancel()
        #expect(attempts.map(\.isCancelled) == [true, true, true])
        #expect(task.makeAttempt().isCancelled)
    }

    @Test func completionCancelsRemainingAttempts() {
        let task = HTTPTask(request: .sample)
        let attempts = [task.makeAttempt(), task.makeAttempt()]
        attempts[0].complete(.sample)
        task.complete(.sample)
        #expect(!attempts[0].isCancelled)
        #expect(attempts[1].isCancelled)
    }

    /// A list that is copied for each of them takes minutes for so many.
    @Test func hundredThousandAttemptsTakeLinearTime() {
        let task = HTTPTask(request: .sample)
        let attempts = (0..<100_000).map { _ in task.makeAttempt() }
        for attempt in attempts.dropFirst(50_000) { attempt.complete(.sample) }
        task.cancel()
        #expect(attempts.prefix(50_000).count(where: \.isCancelled) == 50_000)
        #expect(attempts.dropFirst(50_000).count(where: \.isCancelled) == 0)
    }

    /// A terminal notes the head of an attempt's response, and the task may go on to another loader nevertheless.
    @Test(arguments: [false, true])
    func taskIsPassedOnAfterAnAttemptHadAResponse(hasDeadline: Bool) throws {
        let timers = ManualTimers()
        let terminal = ScriptedTerminal { _ in .success(body: "other") }
        let chain = FallingBack() --> terminal
        var request = HTTPRequest.sample
        if hasDeadline { request.deadline = .after(.seconds(10), on: timers) }
        let seen = Locked<HTTPResult?>(nil)
        chain.load(request: request) { result in seen.withLock { $0 = result } }
        #expect(try seen.withLock { $0 }?.get().body.elementsEqual("other".utf8) == true)
    }

    /// Asks a mirror first, which answers with a 503.
    private final class FallingBack: HTTPLoader, @unchecked Sendable {
        override func load(task: HTTPTask) {
            let attempt = task.makeAttempt()
            attempt.addCompletionHandler { _ in super.load(task: task) }
            attempt.noteHead()
            attempt.complete(.success(HTTPResponse(request: task.request, status: .serviceUnavailable)))
        }
    }

    @Test func attemptsAreCancelledInOrderOfCreation() {
        let task = HTTPTask(request: .sample)
        let log = EventLog()
        var attempts: [HTTPTask] = []
        for number in 0..<20 {
            if number == 10 { attempts[0].complete(.sample) }  // The next takes a place that is free.
            attempts.append(task.makeAttempt())
            attempts[number].addCancelHandler { log.note("\(number)") }
        }
        task.cancel()
        #expect(log.events == (1..<20).map { "\($0)" })
    }

    @Test func callerMayHoldTaskWeakly() {
        let terminal = ScriptedTerminal()
        let log = EventLog()
        weak let task = terminal.load(request: .sample) { log.note($0.summary) }
        #expect(task != nil)
        task?.cancel()
        #expect(log.events == ["cancelled"])
    }

    @Test func attemptHasItsOwnID() {
        let task = HTTPTask(request: .sample)
        #expect(task.makeAttempt().id != task.id)
        #expect(task.makeChainHandle().id == task.id)
    }

    @Test func identitiesAreUniqueAcrossThreads() throws {
        let all = Locked<Set<String>>([])
        try onThreads(4) { _ in
            let mine = (0..<2_000).map { _ in HTTPTask(request: .sample).id.uuidString }
            all.withLock { $0.formUnion(mine) }
        }
        let ids = all.withLock { $0 }
        #expect(ids.count == 8_000)
        #expect(ids.allSatisfy { $0.dropFirst(14).first == "8" && "89AB".contains($0.dropFirst(19).first ?? " ") })
    }
}

/// A task in a chain, whose events really happen.
private final class DrivenTask {
    let log = EventLog()
    private(set) var answers: [Bool] = []
    private let terminal = ScriptedTerminal(onCancel: .waits)
    private var task: HTTPTask?

    init() {
        let task = HTTPTask(request: .sample)
        self.task = task
        (HTTPLoader() --> terminal).load(task: task)
    }

    func happens(_ event: TaskEvent, at step: Int) {
        guard let task else { return }
        switch event {
        case .complete: answers.append(task.complete(.sample))
        case .fail: answers.append(task.fail(.timedOut))
        case .cancel: answers.append(task.cancel())
        case .addCompletionHandler:
            task.addCompletionHandler { [log] result in log.note("\(step): \(result.summary)") }
        case .addCancelHandler:
            task.addCancelHandler { [log] in log.note("\(step) is cancelled") }
        case .drop:
            terminal.forget(task)
            self.task = nil
        case .reset:
            let group = DispatchGroup()
            terminal.reset(with: group)
            terminal.answer(task)
        }
    }
}
