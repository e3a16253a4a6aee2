import LoaderChain
import Testing

@testable import LoaderChainURLSession

/// The decisions of an exchange, compared with a model that only counts.
@Suite(.timeLimit(.minutes(10))) struct ExchangeStateTests {
    @Test(arguments: 0..<200)
    func anyOrderOfEventsKeepsThePromises(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var state = ExchangeState<Int>()
        var ends = 0
        var cancelled: [Int] = []
        var live: Int?
        var made = 0
        var isAnswering = false
        var cancelledBeforeAnswer = false

        for _ in 0..<60 {
            switch random.next() % 7 {
            case 0 where live == nil:
                made += 1
                switch state.begin(made) {
                case .resume:
                    #expect(ends == 0, "a task was begun for an exchange that is over")
                    live = made
                case .cancel:
                    #expect(ends == 1)
                }
            case 1:
                switch state.stop(.cancelled) {
                case .nothing: break
                case .cancel(let sessionTask):
                    #expect(sessionTask == live)
                    cancelledBeforeAnswer = cancelledBeforeAnswer || isAnswering
                    cancelled.append(sessionTask)
                case .end:
                    #expect(live == nil)
                    if state.end() != nil { ends += 1 }
                }
            case 2 where live != nil && !isAnswering:
                if state.beginAnswer() {
                    #expect(!state.isStopped)
                    isAnswering = true
                }
            case 3 where isAnswering:
                isAnswering = false
                if let sessionTask = state.endAnswer() { cancelled.append(sessionTask) }
                #expect(!state.isStopped || cancelled.last == live, "a stop was forgotten")
            case 4 where live != nil && !isAnswering:
                live = nil
                switch state.sessionTaskEnded() {
                case .irrelevant: Issue.record("the task was the exchange's own")
                case .stopped: if state.end() != nil { ends += 1 }
                case .asItCame: #expect(!state.isStopped)
                }
            case 5 where live == nil && made > 0:
                if state.end() != nil { ends += 1 }
            default: break
            }
            #expect(ends <= 1)
            #expect(Set(cancelled).count == cancelled.count, "a task was cancelled twice")
            #expect(!cancelledBeforeAnswer)
            if state.isStopped, let live, !isAnswering { #expect(cancelled.contains(live)) }
        }
    }

    @Test func aStopBeforeTheTransferEndsTheExchange() {
        var state = ExchangeState<Int>()
        guard case .end = state.stop(.cancelled) else {
            Issue.record("the exchange would never end")
            return
        }
        #expect(state.end() != nil)
        #expect(state.end() == nil)
        guard case .cancel = state.begin(1) else {
            Issue.record("the request would be sent nevertheless")
            return
        }
    }

    @Test func theFirstReasonCounts() {
        var state = ExchangeState<Int>()
        _ = state.begin(1)
        _ = state.stop(.timedOut(.seconds(1)))
        _ = state.stop(.cancelled)
        guard case .stopped(.timedOut) = state.sessionTaskEnded() else {
            Issue.record("it was the timeout")
            return
        }
    }
}
