import LoaderChain
import Testing

@testable import LoaderChainURLSession

/// The decisions of an exchange, compared with a model that only counts.
@Suite(.timeLimit(.minutes(10))) struct ExchangeStateTests {
    @Test(arguments: 0..<200)
    func stateKeepsInvariantsInAnyOrderOfEvents(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var state = ExchangeState<Int>()
        var ends = 0
        var cancelled: [Int] = []
        var live: Int?
        var made = 0
        var isAnswering = false
        var cancelledBeforeAnswer = false
        let pipe = ChunkPipe(onLeave: {}, failure: { _ in HTTPError(.cannotStoreResponse, request: HTTPRequest()) })
        var isAttached = false

        func end() {
            guard let end = state.end() else { return }
            ends += 1
            #expect(
                (end.pipe === pipe) == isAttached, "a reader would wait for ever, or the task would never be completed")
        }

        for _ in 0..<60 {
            switch random.next() % 8 {
            case 0 where live == nil:
                made += 1
                if state.begin(made) {
                    #expect(ends == 0, "a transfer was begun for an exchange that is over")
                    live = made
                } else {
                    #expect(ends == 1)
                }
            case 1:
                switch state.stop(.cancelled) {
                case .nothing: break
                case .cancel(let transfer):
                    #expect(transfer == live)
                    cancelledBeforeAnswer = cancelledBeforeAnswer || isAnswering
                    cancelled.append(transfer)
                case .end:
                    #expect(live == nil)
                    end()
                }
            case 2 where live != nil && !isAnswering:
                if state.beginAnswer() {
                    #expect(!state.isStopped)
                    isAnswering = true
                }
            case 3 where isAnswering:
                isAnswering = false
                if let transfer = state.endAnswer() { cancelled.append(transfer) }
                #expect(!state.isStopped || cancelled.last == live, "a stop was forgotten")
            case 4 where live != nil && !isAnswering:
                live = nil
                switch state.transferEnded() {
                case .irrelevant: Issue.record("the transfer was the exchange's own")
                case .stopped: end()
                case .asItCame: #expect(!state.isStopped)
                }
            case 6 where live != nil && ends == 0:
                if state.abandon() != nil {
                    #expect(state.isStopped)
                    end()
                    #expect(ends == 1)
                    if case .irrelevant = state.transferEnded() {} else { Issue.record("it was left") }
                    (live, isAnswering) = (nil, false)
                } else {
                    #expect(!state.isStopped)
                }
            case 7 where !isAttached:
                isAttached = state.attach(pipe)
                #expect(isAttached == (ends == 0 && !state.isStopped))
            case 5 where live == nil && made > 0:
                end()
            default: break
            }
            #expect(ends <= 1)
            #expect(Set(cancelled).count == cancelled.count, "a transfer was cancelled twice")
            #expect(!cancelledBeforeAnswer)
            if state.isStopped, let live, !isAnswering { #expect(cancelled.contains(live)) }
        }
    }

    @Test func stopBeforeTransferEndsExchange() {
        var state = ExchangeState<Int>()
        guard case .end = state.stop(.cancelled) else {
            Issue.record("the exchange would never end")
            return
        }
        #expect(state.end() != nil)
        #expect(state.end() == nil)
        let isSent = state.begin(1)
        #expect(!isSent, "the request would be sent nevertheless")
    }

    @Test func firstStopReasonIsKept() {
        var state = ExchangeState<Int>()
        _ = state.begin(1)
        _ = state.stop(.timedOut(.seconds(1)))
        _ = state.stop(.cancelled)
        guard case .stopped(.timedOut) = state.transferEnded() else {
            Issue.record("it was the timeout")
            return
        }
    }
}
