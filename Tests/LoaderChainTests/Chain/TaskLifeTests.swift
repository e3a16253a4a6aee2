import Testing

@testable import LoaderChain

/// The pure state of a task against the naive one, in every order that events can come in.
@Suite struct TaskLifeTests {
    @Test func everySequenceOfSixEventsDoesWhatTheContractSays() {
        var sequences = 0
        forEverySequence(upTo: 6) { sequence in
            var driven = DrivenLife()
            var naive = NaiveTask()
            for (step, event) in sequence.enumerated() {
                driven.happens(event, at: step)
                naive.happens(event, at: step)
            }
            sequences += 1
            guard driven.heard != naive.heard || driven.answers != naive.answers else { return }
            Issue.record("\(sequence): heard \(driven.heard) \(driven.answers), not \(naive.heard) \(naive.answers)")
        }
        #expect(sequences == 137_257)
    }

    @Test func anObserverHearsOfBothInItsPlace() throws {
        var life = TaskLife<Listener, String>()
        _ = life.register(Listener(step: 0, hearsCompletion: true, hearsCancel: false))
        _ = life.register(Listener(step: 1, hearsCompletion: true, hearsCancel: true))
        _ = life.register(Listener(step: 2, hearsCompletion: false, hearsCancel: true))
        #expect(life.cancel()?.map(\.step) == [2, 1])
        guard case .won(var heard) = life.finish("cancelled", saysCancelled: true) else {
            Issue.record("the completion did not win")
            return
        }
        #expect([heard.pop()?.step, heard.pop()?.step, heard.pop()?.step] == [1, 0, nil])
    }

    @Test func aCompletionThatPassesFiltersHasWonAlready() {
        var life = TaskLife<Listener, String>()
        _ = life.register(Listener(step: 0, hearsCompletion: true, hearsCancel: false))
        _ = life.register(Listener(step: 1, hearsCompletion: false, hearsCancel: false, filters: true))
        guard case .mustPass = life.finish("response", saysCancelled: false) else {
            Issue.record("the filter was passed over")
            return
        }
        guard case .lost = life.finish("timedOut", saysCancelled: false) else {
            Issue.record("a second completion won")
            return
        }
        #expect(!life.isAwaited)
        #expect(life.cancel() != nil)
        guard case .mustSayCancelled = life.settle("response", saysCancelled: false),
            case .won(var heard) = life.settle("cancelled", saysCancelled: true)
        else {
            Issue.record("the cancel that came while it settled was lost")
            return
        }
        #expect([heard.pop()?.step, heard.pop()?.step, heard.pop()?.step] == [1, 0, nil])
        #expect(life.outcome == "cancelled")
    }

    @Test func aStackGivesBackWhatItWasGivenLastFirst() {
        for count in 0...12 {
            var stack = HandlerStack<Int>()
            #expect(stack.isEmpty)
            for number in 0..<count { stack.push(number) }
            #expect(stack.inOrder == Array(0..<count))
            var popped: [Int] = []
            while let number = stack.pop() { popped.append(number) }
            #expect(popped == (0..<count).reversed())
            #expect(stack.isEmpty)
        }
    }
}

private struct Listener: TaskHandling {
    var step: Int
    var hearsCompletion: Bool
    var hearsCancel: Bool
    var filters = false
}

/// A life whose decisions are carried out at once.
private struct DrivenLife {
    private(set) var heard: [String] = []
    private(set) var answers: [Bool] = []
    private var life = TaskLife<Listener, String>()
    private var isDropped = false

    mutating func happens(_ event: TaskEvent, at step: Int) {
        guard !isDropped else { return }
        switch event {
        case .complete: answers.append(complete("response"))
        case .fail: answers.append(complete("timedOut"))
        case .cancel: answers.append(cancel())
        case .addCompletionHandler: register(Listener(step: step, hearsCompletion: true, hearsCancel: false))
        case .addCancelHandler: register(Listener(step: step, hearsCompletion: false, hearsCancel: true))
        case .drop:
            if life.isAwaited { _ = complete("abandoned") }
            isDropped = true
        case .reset:
            _ = cancel()
            _ = complete("cancelled")
        }
    }

    private mutating func register(_ listener: Listener) {
        switch life.register(listener) {
        case .kept, .tooLate: break
        case .hearsCancel, .keptHearingCancel: heard.append("\(listener.step) hears of the cancel")
        case .hearsOutcome(let outcome): heard.append("\(listener.step) hears \(outcome)")
        }
    }

    private mutating func cancel() -> Bool {
        guard let listeners = life.cancel() else { return false }
        heard += listeners.map { "\($0.step) hears of the cancel" }
        return true
    }

    private mutating func complete(_ outcome: String) -> Bool {
        switch life.finish(outcome, saysCancelled: outcome == "cancelled") {
        case .mustSayCancelled:
            return complete("cancelled")
        case .mustPass:
            Issue.record("there are no filters")
            return false
        case .lost:
            return false
        case .won(var listeners):
            while let listener = listeners.pop() {
                if listener.hearsCompletion { heard.append("\(listener.step) hears \(outcome)") }
            }
            return true
        }
    }
}
