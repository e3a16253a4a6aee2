import LoaderChainTesting
import Testing

@testable import LoaderChain

/// The pure state of a task against the naive one, in every order that events can come in.
@Suite(.timeLimit(.minutes(10))) struct TaskLifeTests {
    @Test func everySequenceOfSixEventsAgreesWithNaiveTask() {
        var sequences = 0
        forEverySequence(upTo: 6) { sequence in
            var driven = DrivenLife()
            var naive = NaiveTask()
            for (step, event) in sequence.enumerated() {
                driven.happens(event, at: step)
                naive.happens(event, at: step)
            }
            sequences += 1
            guard driven.log.events != naive.calls || driven.answers != naive.answers else { return }
            Issue.record("\(sequence): \(driven.log.events) \(driven.answers), not \(naive.calls) \(naive.answers)")
        }
        #expect(sequences == 137_257)
    }

    @Test func completionWinsBeforeItPassesFilters() {
        var life = TaskLife()
        _ = life.register(.plainCompletion {}, isFromCaller: false)
        _ = life.register(.plainFilter { $0 }, isFromCaller: false)
        var heard = HandlerStack()
        #expect(life.finish(.sample, saysCancelled: false, &heard) == .mustPass, "the filter was passed over")
        #expect(heard.inOrder.count == 1)
        #expect(life.finish(.sample, saysCancelled: false, &heard) == .lost, "a second completion won")
        #expect(!life.isAwaited)
        #expect(life.cancel() != nil)
        heard = HandlerStack()
        #expect(life.finish(.sample, hasPassed: true, saysCancelled: false, &heard) == .mustSayCancelled)
        #expect(life.finish(.cancelled, hasPassed: true, saysCancelled: true, &heard) == .won)
        #expect(heard.inOrder.count == 2)
        #expect(life.outcome?.summary == "cancelled")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func callersHandlersRunAfterAllOthers(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var life = TaskLife()
        let log = EventLog()
        var callers: [String] = []
        var loaders: [String] = []
        for number in 0..<Int.random(in: 1...12, using: &random) {
            if Int.random(in: 0..<8, using: &random) == 0 { _ = life.cancel() }
            let isFromCaller = Bool.random(using: &random)
            let hearsCancelAlone = Int.random(in: 0..<4, using: &random) == 0
            let handler: TaskHandler =
                hearsCancelAlone ? .plainCancel {} : .plainCompletion { log.note("\(number)") }
            _ = life.register(handler, isFromCaller: isFromCaller)
            guard !hearsCancelAlone else { continue }
            if isFromCaller { callers.append("\(number)") } else { loaders.append("\(number)") }
        }
        let task = HTTPTask(request: .sample)
        // A caller may stop waiting before.
        let leaves = Bool.random(using: &random)
        var told = leaves ? life.takeCallersHandlers() : HandlerStack()
        while let handler = told.pop() { handler.call(completionOf: task, .sample) }
        #expect(log.events == (leaves ? callers.reversed() : []), "seed \(seed)")
        var heard = HandlerStack()
        #expect(life.finish(.cancelled, saysCancelled: true, &heard) == .won, "the first completion lost")
        while let handler = heard.pop() { handler.call(completionOf: task, .sample) }
        let (first, second) = leaves ? (callers, loaders) : (loaders, callers)
        #expect(log.events == first.reversed() + second.reversed(), "seed \(seed)")
    }

    @Test func handlerStackPopsInReverseOrder() {
        for count in 0...12 {
            let log = EventLog()
            var stack = HandlerStack()
            #expect(stack.isEmpty)
            for number in 0..<count { stack.push(.plainCancel { log.note("\(number)") }) }
            for handler in stack.inOrder { handler.call(cancelOf: HTTPTask(request: .sample)) }
            while let handler = stack.pop() { handler.call(cancelOf: HTTPTask(request: .sample)) }
            #expect(log.events == ((0..<count) + (0..<count).reversed()).map { "\($0)" })
            #expect(stack.isEmpty)
        }
    }
}

/// A life whose decisions are carried out at once.
private struct DrivenLife {
    let log = EventLog()
    private(set) var answers: [Bool] = []
    private var life = TaskLife()
    private var isDropped = false
    private static let task = HTTPTask(request: .sample)

    mutating func happens(_ event: TaskEvent, at step: Int) {
        guard !isDropped else { return }
        switch event {
        case .complete: answers.append(complete(.sample))
        case .fail: answers.append(complete(.timedOut))
        case .cancel: answers.append(cancel())
        case .addCompletionHandler:
            register(.completion { [log] result in log.note("\(step): \(result.summary)") })
        case .addCancelHandler:
            register(.plainCancel { [log] in log.note("\(step) is cancelled") })
        case .drop:
            if life.isAwaited { _ = complete(.abandoned) }
            isDropped = true
        case .reset:
            _ = cancel()
            _ = complete(.cancelled)
        }
    }

    private mutating func register(_ handler: TaskHandler) {
        switch life.register(handler, isFromCaller: true) {
        case .kept, .tooLate: break
        case .hearsCancel(let handler): handler.call(cancelOf: Self.task)
        case .hearsOutcome(let handler, let outcome): handler.call(completionOf: Self.task, outcome)
        }
    }

    private mutating func cancel() -> Bool {
        guard var handlers = life.cancel() else { return false }
        while let handler = handlers.pop() { handler.call(cancelOf: Self.task) }
        return true
    }

    private mutating func complete(_ outcome: HTTPResult) -> Bool {
        var handlers = HandlerStack()
        switch life.finish(outcome, saysCancelled: outcome.error?.code == .cancelled, &handlers) {
        case .mustSayCancelled:
            return complete(.cancelled)
        case .mustPass:
            Issue.record("there are no filters")
            return false
        case .lost:
            return false
        case .won:
            while let handler = handlers.pop() { handler.call(completionOf: Self.task, outcome) }
            return true
        }
    }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    fileprivate static var timedOut: HTTPResult { .failure(HTTPError(.timedOut, request: .sample)) }
    fileprivate static var cancelled: HTTPResult { .failure(HTTPError(.cancelled, request: .sample)) }
    fileprivate static var abandoned: HTTPResult { .failure(HTTPError(.abandoned, request: .sample)) }
}
